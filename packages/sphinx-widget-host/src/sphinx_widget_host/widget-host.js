// Shows anywidget views on a page without a kernel, from the state that the notebook saved.
// A classic asynchronous script: it also runs on pages opened from disk. See __init__.py.
(() => {
  "use strict";

  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
  const SORRY =
    "This interactive figure could not be started here. It works when you download the notebook and run it.";
  const ASLEEP = "This interactive figure wakes up when you move, scroll or press a key.";
  const WAITING = "This interactive figure is loading its data …";
  const NOT_LOADED = "The data of this interactive figure could not be loaded. Reload the page to try again.";
  const HOME = document.currentScript.src; // beside it lies the folder of the data

  function decodeBase64(text) {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return new DataView(bytes.buffer); // what ipywidgets hands to a module
  }

  // Large data and code that many widgets share: each is loaded once, and again only after a failure.
  const shared = new Map();
  function loadText(name) {
    if (!shared.has(name)) {
      const load = (resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(`widget-data/${name}.js`, HOME);
        script.onerror = () => reject(new Error(`${script.src} could not be loaded`));
        script.onload = () => {
          const text = window.widgetData?.[name];
          if (!text) return script.onerror();
          delete window.widgetData[name];
          resolve(text);
        };
        document.head.append(script);
      };
      const loading = new Promise(load);
      shared.set(name, loading);
      loading.catch(() => shared.delete(name));
    }
    return shared.get(name);
  }

  // Several views of the same data share its bytes.
  const decoded = new Map();
  async function loadData(name) {
    const text = await loadText(name);
    if (!decoded.has(name)) decoded.set(name, decodeBase64(text));
    return decoded.get(name);
  }

  /** A widget's state with change events: the part of a Backbone model that modules may use. */
  class Model {
    #listeners = [];
    #state;
    #absent; // the buffers that are not in the page
    #later; // those of them that the widget asks for when it needs them
    #pieces; // of the module and the styles, where these are not in the page

    constructor(id, record) {
      this.model_id = id;
      this.name = record.model_name;
      this.#state = structuredClone(record.state);
      this.#pieces = record.pieces ?? {};
      const buffers = record.buffers ?? [];
      const absent = buffers.filter((buffer) => buffer.encoding === "script");
      const waits = ({ path }) => record.state._spec?.later?.includes(path[0]);
      this.#absent = absent.filter((buffer) => !waits(buffer));
      this.#later = absent.filter(waits).map((buffer) => ({ ...buffer, words: "" }));
      for (const { path, data, encoding } of buffers) {
        if (encoding !== "script") this.#put(path, decodeBase64(data));
      }
    }

    #put(path, value) {
      const owner = path.slice(0, -1).reduce((inner, key) => inner[key], this.#state);
      owner[path.at(-1)] = value;
    }

    get complete() {
      return this.#absent.length === 0;
    }

    /** Load the buffers that are not in the page. */
    async load() {
      await Promise.all(this.#absent.map(async ({ path, data }) => this.#put(path, await loadData(data))));
      this.#absent = [];
    }

    /**
     * Start to load a buffer that is not there yet, and throw how that stands, `waiting` while it may still come; its
     * trait then changes.
     */
    need(path) {
      const buffer = this.#later.find((one) => one.path.join() === path.join());
      if (!buffer) throw new Error(`The page has no data for ${path.join(", ")}.`);
      if (!buffer.words) {
        buffer.words = WAITING;
        const told = () => this.#trigger(`change:${path[0]}`, this, this.get(path[0]), {});
        const failed = (error) => {
          console.warn("[widget-host]", error);
          buffer.words = NOT_LOADED;
        };
        loadData(buffer.data)
          .then((data) => this.#put(path, data))
          .catch(failed)
          .then(told);
      }
      throw Object.assign(new Error(buffer.words), { waiting: buffer.words === WAITING });
    }

    /** The text of the module, `_esm`, or of the styles, `_css`. */
    async source(name) {
      const pieces = this.#pieces[name];
      return pieces ? (await Promise.all(pieces.map(loadText))).join("") : this.#state[name];
    }

    get(key) {
      return this.#state[key];
    }

    set(key, value) {
      if (Object.is(this.#state[key], value)) return this;
      this.#state[key] = value;
      this.#trigger(`change:${key}`, this, value, {});
      this.#trigger("change", this, {});
      return this;
    }

    save_changes() {} // without a kernel the state in the page is the truth
    send() {}

    on(names, callback, context) {
      for (const name of names.split(/\s+/)) this.#listeners.push({ name, callback, context });
      return this;
    }

    once(names, callback, context) {
      const wrapper = (...args) => {
        this.off(names, wrapper);
        callback.apply(context, args);
      };
      return this.on(names, wrapper, context);
    }

    off(names, callback, context) {
      const chosen = names ? new Set(names.split(/\s+/)) : null;
      this.#listeners = this.#listeners.filter(
        (one) =>
          (chosen && !chosen.has(one.name)) ||
          (callback && one.callback !== callback) ||
          (context && one.context !== context),
      );
      return this;
    }

    #trigger(name, ...args) {
      for (const one of this.#listeners.slice()) {
        if (one.name === name) one.callback.apply(one.context ?? this, args);
      }
    }
  }

  // Models of one class carry equal sources: each distinct source is loaded once.
  const modules = new Map();
  function loadModule(source) {
    if (!modules.has(source)) {
      const load = async () => {
        const loaded = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
        const widget = loaded.default ?? loaded;
        return typeof widget === "function" ? widget() : widget;
      };
      modules.set(source, load());
    }
    return modules.get(source);
  }

  /** The parts of a source, cut where Python joined what many widgets share with their own. */
  const SHARED_ABOVE = "/*! what stands above is shared by all widgets */\n";
  const pieces = (source) => source?.split(SHARED_ABOVE) ?? [];

  const styles = new Set();
  function loadStyle(source) {
    if (!source || styles.has(source)) return;
    styles.add(source);
    document.head.append(Object.assign(document.createElement("style"), { textContent: source }));
  }

  /** The models of a page, and their views. */
  class Manager {
    #records;
    #models = new Map();
    #initialized = new Map();

    constructor(records) {
      this.#records = records;
    }

    model(id) {
      if (!this.#models.has(id)) {
        const record = this.#records[id];
        if (!record) throw new Error(`the page has no saved state of the widget ${id}`);
        this.#models.set(id, new Model(id, record));
      }
      return this.#models.get(id);
    }

    /** Show a model in an element. */
    async view(id, element) {
      const model = this.model(id);
      const widget = await this.#initialize(model);
      await widget.render?.({
        model,
        el: element,
        signal: new AbortController().signal, // a view stays as long as its page
        experimental: { invoke: () => Promise.reject(new Error("there is no kernel to ask")) },
      });
    }

    /** Run a module's `initialize` once for each model. */
    #initialize(model) {
      if (!this.#initialized.has(model)) {
        const start = async () => {
          const [style, source] = await Promise.all(["_css", "_esm"].map((name) => model.source(name)));
          if (!source) throw new Error(`${model.name} needs a running kernel`);
          for (const piece of pieces(style)) loadStyle(piece);
          const widget = await loadModule(source);
          await widget.initialize?.({ model, experimental: {} });
          return widget;
        };
        this.#initialized.set(model, start());
      }
      return this.#initialized.get(model);
    }
  }

  /** Say that a widget cannot be shown, with the picture that stands for it where no script runs. */
  function apologize(element, error, words = SORRY) {
    console.warn("[widget-host]", error);
    element.className = "widget-view widget-unavailable";
    element.style.minHeight = "";
    element.dataset.widget = "unavailable";
    const sentence = document.createElement("p");
    sentence.textContent = words;
    element.replaceChildren(...pictureOf(element), sentence);
  }

  /** The picture that stands for a widget where no script runs, if it has one. */
  function pictureOf(element) {
    const beside = element.nextElementSibling;
    if (!beside?.matches("noscript")) return [];
    const [image] = new DOMParser().parseFromString(beside.textContent, "text/html").images;
    if (!image) return [];
    // until it is there, what a theme puts around it would be a dot; what is white is seen in the dark
    image.style.visibility = "hidden";
    const show = () => image.style.removeProperty("visibility");
    for (const end of ["load", "error"]) image.addEventListener(end, show, { once: true });
    return [image.closest("picture") ?? image];
  }

  /** Show one view, or the apology. */
  async function show(manager, id, element) {
    try {
      const model = manager.model(id);
      if (model.complete) {
        await manager.view(id, element);
        element.dataset.widget = "ready";
        releaseHeight(element);
      } else {
        element.dataset.widget = "waiting";
        showNear(manager, model, element);
      }
    } catch (error) {
      apologize(element, error);
    }
  }

  const pageComplete = new Promise((resolve) => {
    if (document.readyState === "complete") resolve();
    else addEventListener("load", resolve, { once: true });
  });

  /** Resolves at the first sign of a reader: who only passes by, or leaves at once, loads no model. */
  const reader = new Promise((resolve) => {
    const told = ({ type, target, movementX, movementY }) => {
      // the theme itself scrolls the list of chapters to the one that is open
      if (type === "scroll" && target !== document) return;
      // a browser tells a new page where the mouse rests, as a move by nothing
      if (type === "pointermove" && !movementX && !movementY) return;
      resolve();
    };
    for (const sign of [
      "pointermove",
      "pointerdown",
      "wheel",
      "touchstart",
      "keydown",
      "scroll",
      "focusin",
    ]) {
      addEventListener(sign, told, { passive: true, capture: true });
    }
  });

  /** Resolves when the reader is less than half a screen away from an element. */
  const near = (element) =>
    new Promise((resolve) => {
      const observer = new IntersectionObserver(
        (entries) => {
          if (!entries.some((entry) => entry.isIntersecting)) return;
          observer.disconnect();
          resolve();
        },
        { rootMargin: "50%" },
      );
      observer.observe(element);
    });

  // A page that is loaded again gives each view the height that it had, before anything is shown, so that
  // readers find the place where they were.
  const HEIGHTS = `widget heights ${location.pathname}`;
  const places = []; // the elements of the page's views, in their order
  const heightsBefore = (() => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(HEIGHTS));
      // To ask for the window's width costs a layout, which a first visit is spared.
      return kept && kept.width === innerWidth ? kept.heights : [];
    } catch {
      return []; // a browser may forbid to keep anything
    }
  })();
  addEventListener("pagehide", () => {
    try {
      const heights = places.map((element) => element.offsetHeight);
      sessionStorage.setItem(HEIGHTS, JSON.stringify({ width: innerWidth, heights }));
    } catch {
      // then the next visit begins without
    }
  });

  /** The place of the page's next view: the one that stands behind its tag, or a new one. */
  function placeOf(tag) {
    const beside = tag.nextElementSibling;
    const element = beside?.matches(".widget-view") ? beside : document.createElement("div");
    element.className = "widget-view";
    if (element !== beside) tag.after(element);
    if (heightsBefore[places.length]) element.style.minHeight = `${heightsBefore[places.length]}px`;
    places.push(element);
    return element;
  }

  /** Let a view take the height it needs, from the moment when the reader does something with it. */
  function releaseHeight(element) {
    const release = () => (element.style.minHeight = "");
    for (const act of ["pointerdown", "keydown"]) element.addEventListener(act, release, { once: true });
    addEventListener("resize", release, { once: true });
  }

  /** Show a view whose data is not in the page as soon as the page is complete and a reader near; until then, its picture. */
  async function showNear(manager, model, element) {
    const sentence = document.createElement("p");
    sentence.setAttribute("role", "status");
    sentence.textContent = ASLEEP;
    element.append(sentence, ...pictureOf(element));
    // A press on the picture is meant for the widget, which finds it in its element; who scrolls there presses nothing.
    element.addEventListener("pointerdown", () => (element.dataset.pressed = ""));
    element.addEventListener("pointercancel", () => delete element.dataset.pressed);
    const known = element.style.length > 0; // its heights, from the page
    if (!known) element.style.minHeight = "60vh"; // about what the widget will take
    try {
      await Promise.all([pageComplete, near(element), reader]);
      sentence.textContent = WAITING;
      await model.load();
    } catch (error) {
      apologize(element, error, NOT_LOADED);
      return;
    }
    element.replaceChildren();
    await show(manager, model.model_id, element);
  }

  // The line that shows a widget on another page asks for the height that the widget has on this one.
  const BELOW = 40; // px for the source that stands below it there
  const measure = ({ target }) => {
    if (!(target instanceof Element) || !target.matches("details.widget-embed[open]")) return;
    let view = target.previousElementSibling;
    while (view && !view.matches(".widget-view")) view = view.previousElementSibling;
    const line = target.querySelector("pre").firstChild;
    const height = Math.ceil(view.getBoundingClientRect().height) + BELOW;
    line.textContent = line.textContent.replace(/ height="\d+"/, ` height="${height}"`);
  };
  document.addEventListener("toggle", measure, { capture: true }); // it does not bubble

  /** Whether the parser has gone past an element, so that its text is whole. */
  function isWhole(element) {
    for (let node = element; node; node = node.parentNode) if (node.nextSibling) return true;
    return document.readyState !== "loading";
  }

  const parsed = new Promise((resolve) => {
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", resolve, { once: true });
  });

  /** Read the saved state, as early as the page has it. */
  async function readState() {
    if (![...document.querySelectorAll(STATE)].some(isWhole)) await parsed;
    const tag = document.querySelector(STATE);
    if (!tag) throw new Error("the page holds no saved widget state");
    return new Manager(JSON.parse(tag.textContent).state);
  }

  const idle = () =>
    new Promise((resolve) =>
      "requestIdleCallback" in window ? requestIdleCallback(resolve, { timeout: 300 }) : setTimeout(resolve),
    );

  /** Start the first widget while the page is still arriving, the others one by one after it. */
  async function start() {
    const found = new Set();
    const later = [];
    let first;
    let manager;
    const open = async (tag, element) => {
      try {
        manager ??= readState();
        await show(await manager, JSON.parse(tag.textContent).model_id, element);
      } catch (error) {
        apologize(element, error);
      }
    };
    const discover = () => {
      for (const tag of document.querySelectorAll(VIEW)) {
        if (found.has(tag) || !isWhole(tag)) continue;
        found.add(tag);
        const element = placeOf(tag);
        // To ask which of them are in sight would cost a layout of what has arrived so far.
        if (first) later.push([tag, element]);
        else first = open(tag, element);
      }
    };
    const observer = new MutationObserver(discover);
    observer.observe(document, { childList: true, subtree: true });
    discover();
    await parsed;
    observer.disconnect();
    discover();
    await first;
    for (const [tag, element] of later) {
      await idle();
      await open(tag, element);
    }
    if (found.size) document.documentElement.dataset.widgets = "ready";
  }

  start();
})();
