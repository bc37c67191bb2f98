/** Returns `once(name, key, make)`: the value made for the name, made anew only when the key changes. */
export function memory() {
  const kept = {};
  return (name, key, make) => {
    if (kept[name]?.key !== key) kept[name] = { key, value: make() };
    return kept[name].value;
  };
}
