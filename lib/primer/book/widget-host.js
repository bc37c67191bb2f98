// Shows anywidget views on a page without a kernel, from the state that the notebook saved.
// A classic asynchronous script: it also runs on pages opened from disk. See widget_host.py.
(() => {
  "use strict";

  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
  const SORRY =
    "This interactive figure could not be started here. It works when you download the notebook and run it.";

  /** The id in a reference to another model, `IPY_MODEL_<id>` or `anywidget:<id>`; else undefined. */
  const referred = (value) =>
    typeof value === "string" ? /^(?:IPY_MODEL_|anywidget:)(.+)$/.exec(value)?.[1] : undefined;

  function decodeBase64(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new DataView(bytes.buffer); // what ipywidgets hands to a module
  }

  /** A widget's state with change events: the part of a Backbone model that modules may use. */
  class Model {
    #listeners = [];
    #state;

    constructor(id, record, manager) {
      this.model_id = id;
      this.name = record.model_name;
      this.widget_manager = manager;
      this.#state = structuredClone(record.state);
      for (const { path, data } of record.buffers ?? []) {
        const owner = path.slice(0, -1).reduce((value, key) => value[key], this.#state);
        owner[path.at(-1)] = decodeBase64(data);
      }
    }

    get(key) {
      return this.#state[key];
    }

    set(key, value) {
      const patch = typeof key === "object" ? key : { [key]: value };
      const changed = Object.keys(patch).filter((name) => !Object.is(this.#state[name], patch[name]));
      for (const name of changed) this.#state[name] = patch[name];
      for (const name of changed) this.#trigger(`change:${name}`, this, patch[name], {});
      if (changed.length) this.#trigger("change", this, {});
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
      const remote = /^https?:\/\//.test(source);
      const blob = () => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const load = async () => {
        const loaded = await import(remote ? source : blob());
        const widget = loaded.default ?? loaded;
        return typeof widget === "function" ? widget() : widget;
      };
      modules.set(source, load());
    }
    return modules.get(source);
  }

  const styles = new Set();
  function loadStyle(source) {
    if (!source || styles.has(source)) return;
    styles.add(source);
    const remote = /^https?:\/\//.test(source);
    const element = document.createElement(remote ? "link" : "style");
    if (remote) Object.assign(element, { rel: "stylesheet", href: source });
    else element.textContent = source;
    document.head.append(element);
  }

  /** The models of a page, and their views. */
  class Manager {
    #records;
    #models = new Map();
    #initialized = new Map();

    constructor(records) {
      this.#records = records;
      for (const record of Object.values(records)) this.#link(record);
    }

    model(id) {
      if (!this.#models.has(id)) {
        const record = this.#records[id];
        if (!record) throw new Error(`the page has no saved state of the widget ${id}`);
        this.#models.set(id, new Model(id, record, this));
      }
      return this.#models.get(id);
    }

    async get_model(reference) {
      return this.model(referred(reference) ?? reference);
    }

    /** Show a model in an element; resolves to a function that takes the view away again. */
    async view(id, element) {
      const model = this.model(id);
      element.classList.add(...(model.get("_dom_classes") ?? []));
      if (model.get("_esm")) return this.#viewModule(model, element);
      const control = CONTROLS[model.name];
      if (!control) throw new Error(`${model.name} needs a running kernel`);
      return control(model, element, this);
    }

    async #viewModule(model, element) {
      const widget = await this.#initialize(model);
      const controller = new AbortController();
      const cleanup = await widget.render?.({
        model,
        el: element,
        signal: controller.signal,
        experimental: { invoke: () => Promise.reject(new Error("there is no kernel to ask")) },
      });
      return () => {
        controller.abort();
        cleanup?.();
      };
    }

    /** Run a module's `initialize` once for each model. */
    #initialize(model) {
      if (!this.#initialized.has(model)) {
        const start = async () => {
          loadStyle(model.get("_css"));
          const widget = await loadModule(model.get("_esm"));
          await widget.initialize?.({ model, experimental: {} });
          return widget;
        };
        this.#initialized.set(model, start());
      }
      return this.#initialized.get(model);
    }

    /** Connect two traits as `ipywidgets.jslink` and `jsdlink` do. */
    #link({ model_name: name, state }) {
      if (name !== "LinkModel" && name !== "DirectionalLinkModel") return;
      const [source, target] = [state.source, state.target].map(([reference, trait]) => ({
        id: referred(reference),
        trait,
      }));
      if (!this.#records[source.id] || !this.#records[target.id]) return;
      const [from, to] = [this.model(source.id), this.model(target.id)];
      const forward = () => to.set(target.trait, from.get(source.trait));
      from.on(`change:${source.trait}`, forward);
      if (name === "LinkModel") {
        to.on(`change:${target.trait}`, () => from.set(source.trait, to.get(target.trait)));
      }
      forward();
    }
  }

  /** Draw now and whenever a trait changes; returns the function that stops it. */
  function follow(model, trait, draw) {
    model.on(`change:${trait}`, draw);
    draw();
    return () => model.off(`change:${trait}`, draw);
  }

  const box = (direction) => async (model, element, manager) => {
    Object.assign(element.style, {
      display: "flex",
      flexDirection: direction,
      flexWrap: "wrap",
      gap: "0.75rem",
    });
    let drawn = Promise.resolve([]);
    const clear = async (views) => (await views).forEach((dispose) => dispose());
    const stop = follow(model, "children", () => {
      const before = drawn;
      drawn = clear(before).then(() => {
        element.replaceChildren();
        const children = model.get("children") ?? [];
        return Promise.all(
          children.map((child) => {
            const place = element.appendChild(document.createElement("div"));
            return show(manager, referred(child), place);
          }),
        );
      });
    });
    await drawn;
    return () => {
      stop();
      clear(drawn);
    };
  };

  const html = async (model, element) =>
    follow(model, "value", () => (element.innerHTML = model.get("value")));

  const label = async (model, element) =>
    follow(model, "value", () => (element.textContent = model.get("value")));

  const slider = async (model, element) => {
    const caption = element.appendChild(document.createElement("label"));
    const input = document.createElement("input");
    const output = document.createElement("output");
    caption.append(`${model.get("description")} `, input, " ", output);
    const { min, max, step } = { min: model.get("min"), max: model.get("max"), step: model.get("step") };
    Object.assign(input, { type: "range", min, max, step: step ?? 1 });
    input.addEventListener("input", () => model.set("value", Number(input.value)));
    return follow(model, "value", () => {
      input.value = model.get("value");
      output.textContent = model.get("value");
    });
  };

  /** The few widgets of ipywidgets itself that can live without a kernel. */
  const CONTROLS = {
    BoxModel: box("row"),
    HBoxModel: box("row"),
    VBoxModel: box("column"),
    HTMLModel: html,
    LabelModel: label,
    IntSliderModel: slider,
    FloatSliderModel: slider,
  };

  /** Say that a widget cannot be shown, with the picture that stands for it where no script runs. */
  function apologize(element, error) {
    console.warn("[widget-host]", error);
    element.className = "widget-view widget-unavailable";
    element.dataset.widget = "unavailable";
    const sentence = document.createElement("p");
    sentence.textContent = SORRY;
    const picture = element.nextElementSibling?.matches("noscript")
      ? new DOMParser().parseFromString(element.nextElementSibling.textContent, "text/html").images[0]
      : undefined;
    element.replaceChildren(...(picture ? [picture, sentence] : [sentence]));
  }

  /** Show one view, or the apology; resolves to the function that takes it away. */
  async function show(manager, id, element) {
    element.classList.add("widget-view");
    try {
      const dispose = await manager.view(id, element);
      element.dataset.widget = "ready";
      return dispose;
    } catch (error) {
      apologize(element, error);
      return () => {};
    }
  }

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

  /** Start the widgets in sight while the page is still arriving, the others one by one after it. */
  async function start() {
    const found = new Set();
    const inSight = [];
    const later = [];
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
        const element = document.createElement("div");
        tag.after(element);
        if (Math.abs(element.getBoundingClientRect().top) < 3 * innerHeight) {
          inSight.push(open(tag, element));
        } else later.push([tag, element]);
      }
    };
    const observer = new MutationObserver(discover);
    observer.observe(document, { childList: true, subtree: true });
    discover();
    await parsed;
    observer.disconnect();
    discover();
    await Promise.all(inSight);
    for (const [tag, element] of later) {
      await idle();
      await open(tag, element);
    }
    if (found.size) document.documentElement.dataset.widgets = "ready";
  }

  start();
})();
