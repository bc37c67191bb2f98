// Numbers of parameters, tokens and operations, as one says them.

import { compact } from "../kit/kit.js";

/** The kit's compact number without the zeros that say nothing: 280 B, 1.5 T */
export const brief = (x, digits = 3) =>
  compact(Number(x.toPrecision(digits)))
    .replace(/(\.\d*?)0+(?= |$)/, "$1")
    .replace(/\.(?= |$)/, "");
