// Python in a worker, a spare worker for when it is stopped, and the packs that both load.
(() => {
  "use strict";
  const { load } = window.runInPage;
  const IDLE = 1500; // milliseconds after a run until the spare worker starts
  const LONG = 500; // milliseconds from which on an import is spoken of
  let data; // what the build knows of this page and of the packs
  let source; // of the worker
  let current;
  let spare;
  let hear = () => {};

  const known = () =>
    Promise.all([load("manifest"), load("cells", `cells/${page()}.js`)]).then(([manifest, cells]) => ({
      ...manifest,
      ...cells,
    }));
  const prepare = async () => {
    [data, source] = await Promise.all([data ?? known(), source ?? load("worker-source")]);
    return data;
  };
  const page = () => window.runInPage.page.replaceAll("/", "-");
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

  const time = (seconds) => (seconds < 90 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`);

  const start = () => {
    const url = URL.createObjectURL(new Blob([source.worker], { type: "text/javascript" }));
    const worker = new Worker(url);
    const asked = new Map();
    let count = 0;
    const fail = (error) => {
      for (const { failed } of asked.values()) failed(error);
      asked.clear();
    };
    worker.addEventListener("error", (event) => fail(Error(event.message || "Python cannot start here.")));
    worker.addEventListener("message", ({ data: said }) => {
      if (said.outputs) {
        if (one === current) for (const output of said.outputs) hear(...output);
        return;
      }
      const { done, failed } = asked.get(said.id) ?? {};
      asked.delete(said.id);
      if (said.error) failed?.(Object.assign(Error(said.error), { fatal: said.fatal }));
      else done?.(said.answer);
    });
    const one = {
      packs: new Map(),
      last: Promise.resolve(), // what is unpacked at last: Python comes first
      ask: (deed, given = {}) =>
        new Promise((done, failed) => {
          count += 1;
          asked.set(count, { done, failed });
          worker.postMessage({ id: count, deed, ...given });
        }),
      end(error) {
        worker.terminate();
        URL.revokeObjectURL(url);
        fail(error);
      },
    };
    return one;
  };

  // Load packs that are not there yet. They come beside one another, and are unpacked in their order.
  const bring = async (one, names, tell) => {
    const missing = names.filter((name) => !one.packs.has(name));
    const sum = missing.reduce((total, name) => total + data.packs[name].size, 0);
    let here = 0;
    const said = () => tell(`Loading ${missing.join(", ")}: ${megabytes(here)} of ${megabytes(sum)} MB …`);
    if (sum) said();
    for (const name of missing) {
      const arriving = load(name, data.packs[name].file);
      arriving.catch(() => {});
      one.last = one.last.then(async () => {
        const packed = await arriving;
        here += data.packs[name].size;
        said();
        await one.ask("pack", { name, packed });
      });
      one.packs.set(name, one.last);
    }
    try {
      await Promise.all(names.map((name) => one.packs.get(name)));
    } catch (error) {
      for (const name of missing) one.packs.delete(name); // the next press tries again
      one.last = Promise.resolve();
      throw error;
    }
  };
  const begin = (one, packs, tell) => {
    one.begun ??= (async () => {
      await bring(one, ["python"], tell);
      tell("Starting Python …");
      const { units, tells, modules, files, own, absent, written, installed, environment } = data;
      const told = { units, tells, modules, files, own, absent, written, installed, environment };
      const known = JSON.stringify(told);
      await one.ask("begin", { files: source.python, known });
    })();
    one.begun.catch(() => {
      one.begun = undefined;
    });
    return Promise.all([one.begun, bring(one, ["python", ...packs], tell)]);
  };

  // A worker that loads what the other one has, so that Stop costs no waiting.
  const startSpare = () => {
    const small = navigator.deviceMemory <= 2;
    if (spare || small || !current) return;
    const one = start();
    spare = one;
    const names = [...current.packs.keys()].filter((name) => name !== "python");
    begin(one, names, () => {})
      .then(() => one === spare && one.ask("warm")) // after a Stop it is the current one
      .catch((error) => {
        if (one !== spare) return;
        spare = undefined;
        one.end(error);
      });
  };

  let running = false;
  const run = async (cell, code, { tell, show }) => {
    await prepare();
    current ??= start();
    const one = current;
    running = true;
    let words; // said while it runs and imports nothing
    let importing; // what will say that it does
    let named = false; // whether it was said
    const say = (now) => {
      words = now;
      tell(words);
    };
    hear = (kind, given, alt) => {
      if (kind === "takes") say(`Running. It will take about ${time(given)} here; Stop ends it.`);
      else if (kind !== "imports") show(kind, given, alt);
      else if (given) {
        importing = setTimeout(() => {
          named = true;
          tell(`Importing ${given} …`);
        }, LONG);
      } else {
        clearTimeout(importing);
        if (named) tell(words);
        named = false;
      }
    };
    try {
      const printed = data.cells[cell];
      const known = code === printed.source ? printed.packs : [];
      await begin(one, known, tell);
      if (code !== printed.source) await bring(one, await one.ask("packs", { cell, code }), tell);
      for (;;) {
        say("Running …");
        const answer = await one.ask("run", { cell, code });
        if (!answer.awaited) return { ...answer, printedThen: printed.printed, kind: printed.kind };
        show("clear");
        await bring(one, [answer.awaited], tell);
      }
    } catch (error) {
      if (error.fatal && one === current) stop(error);
      throw error;
    } finally {
      clearTimeout(importing);
      hear = () => {};
      running = false;
      setTimeout(startSpare, IDLE);
    }
  };
  const stop = (error) => {
    const one = current;
    current = spare;
    spare = undefined;
    one?.end(error);
  };

  window.runInPage.python = {
    prepare,
    run,
    stop: () => stop(Object.assign(Error("Stopped."), { stopped: true })),
    isRunning: () => running,
    restore: (cell) => current?.begun && current.ask("restore", { cell }),
    darkColors: () => data.dark,
    memory: () => current?.ask("memory"),
    whenSpareIsReady: () => spare?.ask("memory"), // the tests wait for it
  };
})();
