// The same picture from half as many elements. KaTeX writes a formula for every engine since 2013: tables
// whose cells stand on a line, empty elements that hold a height, and a name for each kind of sign. Here
// layout.css holds the heights, and what has no rule in KaTeX's style sheet has no element.
"use strict";

/** KaTeX's kinds of signs, of which its style sheet knows nothing: they have set the spaces, and are done. */
const KINDS = new Set("mord mop mbin mrel mopen mclose mpunct minner mtight".split(" "));
/** Around what is stacked, and no more: it and the stack become one. */
const AROUND_STACKS = new Set("msupsub mfrac accent op-limits sqrt".split(" "));
/** How many times a size of the text each of KaTeX's sizes is, size1 first. */
const SIZES = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.44, 1.728, 2.074, 2.488];

const number = (length) => Number.parseFloat(length ?? "0");
const em = (length) => `${+length.toFixed(4)}em`;
const has = (node, name) => node.classes?.includes(name) ?? false;
const isText = (node) => node.text !== undefined;
const isStack = (node) => has(node, "vlist-t");
const isPlaced = (node) => Object.keys(node.style).length + Object.keys(node.attributes ?? {}).length > 0;
const isOfNoKind = (node) => node.classes.every((name) => !name || KINDS.has(name));
const isFragment = (node) => node.children && !node.attributes; // it has no element, and its children have its place
const saysNothing = (node) =>
  node.classes &&
  node.children &&
  !("href" in (node.attributes ?? {})) &&
  isOfNoKind(node) &&
  !isPlaced(node);

/** The room behind a sign: that of its slant, which KaTeX writes last, or what is set. */
const roomBehind = (node) => number(node.style.marginRight) || Math.max(0, node.italic ?? 0);

function setRoom(node, side, room) {
  if (Math.abs(room) > 1e-5) node.style[side] = em(room);
  else delete node.style[side];
  if (side === "marginRight" && node.italic) node.italic = 0; // it is in the room
}

/** The rows of a stack, each with the height of its strut; the table around them is a block. */
function flatten(stack) {
  const [cell] = stack.children[0].children;
  stack.classes = stack.classes.filter((name) => name !== "vlist-t2");
  stack.classes.push("vlist");
  stack.children = cell.children;
  for (const row of stack.children) {
    row.style["--strut"] = row.children[0].style.height;
    row.children = row.children.slice(1);
  }
}

/** A line's strut is drawn before it. */
function hold(base) {
  const [{ style }] = base.children;
  base.style["--high"] = style.height;
  if (style.verticalAlign) base.style["--low"] = style.verticalAlign;
  base.children = base.children.slice(1);
}

/** The empty room on both sides of a fraction becomes its margins. */
function closeIn(nodes) {
  const isRoom = (node) => node && has(node, "nulldelimiter") && node.classes.length === 2 && !isPlaced(node);
  return nodes.filter((node, at) => {
    const beside = [nodes[at - 1], nodes[at + 1]].find((one) => one && has(one, "mfrac"));
    if (!isRoom(node) || !beside) return true;
    beside.style[beside === nodes[at - 1] ? "marginRight" : "marginLeft"] = "0.12em";
    return false;
  });
}

/** A space becomes the margin of what stands before it. */
function space(nodes) {
  const kept = [];
  for (const node of nodes) {
    const before = kept.at(-1);
    const isSpace =
      has(node, "mspace") && !node.children.length && Object.keys(node.style).join() === "marginRight";
    const ratio = before?.ratio ?? 1; // of the size here to its own
    const isOfItsSize =
      before?.style && (before.ratio || !["sizing", "mspace"].some((name) => has(before, name)));
    if (!isSpace || !isOfItsSize || !node.style.marginRight.endsWith("em")) {
      kept.push(node);
      continue;
    }
    setRoom(before, "marginRight", roomBehind(before) + number(node.style.marginRight) * ratio);
    if (!before.classes.length) before.classes.push("mord"); // else it would have no element
  }
  return kept;
}

/** An index or an exponent alone needs no stack: it is raised. */
function raised(stack) {
  const [row, another] = stack.children;
  const [one, more] = row.children;
  if (another || more || !has(one, "sizing") || one.style.top || one.style.verticalAlign) return undefined;
  const size = (name) => SIZES[one.classes.find((each) => each.startsWith(name)).slice(name.length) - 1];
  const ratio = size("reset-size") / size("size");
  one.style.verticalAlign = em(-(number(row.style.top) + number(row.style["--strut"])) * ratio);
  setRoom(one, "marginRight", number(row.style.marginRight) * ratio + roomBehind(one));
  setRoom(one, "marginLeft", number(row.style.marginLeft) * ratio);
  one.classes.push("script");
  one.ratio = ratio;
  return one;
}

/** Make one of an element and its only child, where both together say the same. */
function joined(node) {
  const [child] = node.children;
  if (!child.classes || isPlaced(node)) return node;
  if (isStack(child) && node.classes.some((name) => AROUND_STACKS.has(name))) {
    const script = has(node, "msupsub") && raised(child);
    if (!script) child.classes.unshift(...node.classes);
    return script || child;
  }
  if (has(node, "sizing") && !has(child, "sizing") && (isText(child) || saysNothing(child))) {
    child.classes = [...node.classes, ...child.classes];
    return child;
  }
  return saysNothing(node) && child.classes.length ? child : node;
}

/** Go through a formula from its leaves to its root. */
function thin(node, isRow = false) {
  if (!node.children || !node.classes) return node;
  if (isStack(node)) flatten(node);
  if (has(node, "base") && has(node.children[0] ?? {}, "strut")) hold(node);
  const children = node.children.map((child) => thin(child, isStack(node) || (isRow && isFragment(child))));
  // what stands in a row, or is a piece of a tall brace, has rules of its place
  const isList = !isStack(node) && !isRow && !has(node, "delimsizinginner");
  node.children = isList
    ? space(closeIn(children.flatMap((child) => (saysNothing(child) ? child.children : child))))
    : children;
  return node.children.length === 1 && !isStack(node) && !has(node, "base") ? joined(node) : node;
}

/** Signs of one font and no style are letters of the text; of the others the kind is left out. */
function unname(node, isList = true) {
  for (const child of node.children ?? []) {
    if (!isText(child)) unname(child, !isStack(node) && (isList || !isFragment(child)));
    else if (child.classes && isList && isOfNoKind(child) && !isPlaced(child) && !(child.italic > 0))
      child.classes = [];
    else if (child.classes?.length > 1) child.classes = child.classes.filter((name) => !KINDS.has(name));
  }
}

/** A formula in one piece: the piece, or its only letter, is the whole. */
function asOne(html) {
  const [base, another] = html.children;
  if (another || !has(base, "base")) return;
  Object.assign(html.style, base.style);
  html.classes.push(...base.classes);
  html.children = base.children;
  const [letter, more] = html.children;
  if (more || !letter || !isText(letter) || letter.classes.join() !== "mathnormal") return;
  html.classes.push("mathnormal");
  setRoom(html, "marginRight", roomBehind(letter));
  Object.assign(letter, { classes: [], style: {}, italic: 0 });
}

/**
 * Thin a formula that KaTeX has built.
 *
 * @param tree what `__renderToDomTree` returns
 * @param {boolean} display whether it stands on a line of its own
 */
exports.thin = (tree, display) => {
  const [mathml, html] = (display ? tree.children[0] : tree).children;
  html.children = html.children.map((base) => thin(base));
  unname(html);
  if (!display) asOne(html);
  const [semantics] = mathml.children[0].children;
  const [row] = semantics.children;
  if (row.type === "mrow" && row.children.length === 1 && row.children[0].type)
    semantics.children[0] = row.children[0];
};
