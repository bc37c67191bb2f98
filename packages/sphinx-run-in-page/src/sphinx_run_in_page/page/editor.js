// The field in which a reader changes a cell: CodeMirror, in the colors of the listings of the page.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// Pygments' names of what Lezer finds: the style sheet of the page colors both.
const classes = tagHighlighter([
  { tag: tags.keyword, class: "k" },
  { tag: [tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], class: "k" },
  { tag: tags.operatorKeyword, class: "ow" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: tags.string, class: "s2" },
  { tag: tags.special(tags.string), class: "si" },
  { tag: tags.escape, class: "se" },
  { tag: tags.number, class: "mi" },
  { tag: tags.comment, class: "c1" },
  { tag: [tags.operator, tags.arithmeticOperator, tags.compareOperator], class: "o" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: tags.meta, class: "nd" },
]);

window.runInPage.editor = (parent, code, { label, changed, run }) => {
  const pressed = () => {
    run();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("    "),
        bracketMatching(),
        EditorView.lineWrapping,
        python(),
        syntaxHighlighting(classes),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
        keymap.of([{ key: "Shift-Enter", run: pressed }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
      ],
    }),
  });
  return { read: () => view.state.doc.toString(), focus: () => view.focus() };
};
