// What is kept by name.

/** An object with a member for each name. */
export const named = (names, of) => Object.fromEntries(names.map((name) => [name, of(name)]));

/** Returns `once(name, on, make)`: the value made for the name, anew only when what it depends on changes. */
export function memory() {
  const kept = {};
  return (name, on, make) => {
    const key = Array.isArray(on) ? JSON.stringify(on) : on;
    if (kept[name]?.key !== key) kept[name] = { key, value: make() };
    return kept[name].value;
  };
}
