// Numbers with a power of ten.

/** 4.8·10⁻⁹; nothing is 0 */
export function scientific(x, digits = 1) {
  if (x === 0) return "0";
  const [mantissa, power] = x.toExponential(digits).split("e");
  const raised = [...String(Number(power))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)] ?? "⁻");
  return `${mantissa.replace("-", "−")}·10${raised.join("")}`;
}
