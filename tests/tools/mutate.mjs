// Small errors that somebody could make in a line of JavaScript, as tests/tools/mutate.py makes them in Python:
// `node tests/tools/mutate.mjs FILE…` prints { file: [[start, end, new, operator, line], …] }, in bytes of UTF-8.
//
// Stryker changes no number, swaps nothing and deletes only whole blocks, where most errors of a drawing are,
// and brings sixty packages.  The parser is TypeScript's, which `make lint` has already; texts stay.

import { resolve } from "node:path";
import { API } from "../../node_modules/typescript/dist/api/sync/api.js";
import { SyntaxKind as Kind } from "../../node_modules/typescript/dist/ast/index.js";

const OTHER = {
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "**": ["*"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "<": ["<=", ">"],
  "<=": ["<", ">"],
  ">": [">=", "<"],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
};
const KIND = (sign) =>
  /^[<>]=?$|^[!=]==$/.test(sign) ? "comparison" : /&&|\|\||\?\?/.test(sign) ? "boolean" : "arithmetic";
const NAMES = [
  ["min", "max"],
  ["floor", "ceil"],
  ["sin", "cos"],
  ["some", "every"],
  ["sqrt", "abs"],
];
const SWAPPED = Object.fromEntries(NAMES.flatMap(([a, b]) => [[a, b], [b, a]])); // biome-ignore format: pairs
const COMMUTING = new Set(["min", "max", "hypot"]);
const MUTE = new Set([Kind.ImportDeclaration, Kind.ExportDeclaration, Kind.ThrowStatement]);

function* changes(node, text) {
  const own = (part) => text.slice(part.getStart(), part.end);
  const at = (part) => [part.getStart(), part.end];
  const isText = (part) => /^["'`]/.test(own(part));
  function* swap(parts, kind) {
    for (let i = 0; i + 1 < parts.length; i++) {
      const [a, b] = [parts[i], parts[i + 1]];
      if (own(a) === own(b) || [a, b].some((part) => isText(part) || part.kind === Kind.SpreadElement))
        continue;
      yield [a.getStart(), b.end, own(b) + text.slice(a.end, b.getStart()) + own(a), kind];
    }
  }
  switch (node.kind) {
    case Kind.BinaryExpression: {
      const sign = own(node.operatorToken);
      if (sign === "+" && (isText(node.left) || isText(node.right))) return;
      for (const other of OTHER[sign] ?? []) yield [...at(node.operatorToken), other, KIND(sign)];
      return;
    }
    case Kind.NumericLiteral: {
      const value = Number(own(node));
      if (!Number.isInteger(value)) yield [...at(node), String(2 * value), "constant"];
      else yield [...at(node), String(value + 1), "constant"];
      if (Number.isInteger(value) && value > 0) yield [...at(node), String(value - 1), "constant"];
      return;
    }
    case Kind.TrueKeyword:
      yield [...at(node), "false", "boolean"];
      return;
    case Kind.FalseKeyword:
      yield [...at(node), "true", "boolean"];
      return;
    case Kind.PrefixUnaryExpression: {
      const sign = own(node)[0];
      if (sign === "!" || (sign === "-" && own(node)[1] !== "-"))
        yield [node.getStart(), node.getStart() + 1, "", sign === "!" ? "boolean" : "sign"];
      return;
    }
    case Kind.ConditionalExpression:
      yield [...at(node.condition), `!(${own(node.condition)})`, "condition"];
      return;
    case Kind.IfStatement:
      if (/^\{?\s*throw\b/.test(own(node.thenStatement)))
        yield [...at(node.expression), "false", "guard removed"];
      else yield [...at(node.expression), `!(${own(node.expression)})`, "condition"];
      return;
    case Kind.ReturnStatement:
      if (node.expression) yield [...at(node.expression), "undefined", "return value"];
      return;
    case Kind.ExpressionStatement:
    case Kind.BreakStatement:
    case Kind.ContinueStatement:
      yield [...at(node), ";", "deleted statement"];
      return;
    case Kind.ArrayLiteralExpression:
      if (node.elements.length === 2) yield* swap([...node.elements], "pair swapped");
      return;
    case Kind.CallExpression: {
      const called = node.expression;
      const name = called.kind === Kind.PropertyAccessExpression ? called.name : called;
      if (Object.hasOwn(SWAPPED, own(name))) yield [...at(name), SWAPPED[own(name)], "function"];
      if (!COMMUTING.has(own(name))) yield* swap([...node.arguments], "arguments swapped");
      if (own(name) === "slice")
        for (const bound of node.arguments)
          if (!/^-?\d/.test(own(bound))) yield [...at(bound), `${own(bound)} + 1`, "off by one"];
    }
  }
}

function* walk(node, text) {
  if (MUTE.has(node.kind)) return;
  yield* changes(node, text);
  const children = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* walk(child, text);
}

const root = resolve(import.meta.dirname, "../..");
const api = new API({ cwd: root });
try {
  const { program } = api
    .updateSnapshot({ openProject: resolve(root, "lib/primer/widgets/tsconfig.json") })
    .getProjects()[0];
  const found = {};
  for (const file of process.argv.slice(2)) {
    const tree = program.getSourceFile(resolve(file));
    const { text } = tree;
    const bytes = (place) => Buffer.byteLength(text.slice(0, place));
    found[file] = [...walk(tree, text)].map(([start, end, changed, operator]) => [
      bytes(start),
      bytes(end),
      changed,
      operator,
      text.slice(0, start).split("\n").length,
    ]);
  }
  process.stdout.write(JSON.stringify(found));
} finally {
  api.close();
}
