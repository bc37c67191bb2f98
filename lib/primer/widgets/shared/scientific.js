// Numbers with a power of ten.

/** 4.8·10⁻⁹ */
export function scientific(x, digits = 1) {
  const [mantissa, power] = x.toExponential(digits).split("e");
  const raised = [...String(Number(power))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)] ?? "⁻");
  return `${mantissa.replace("-", "−")}·10${raised.join("")}`;
}
