// Several numbers as one.

import { format } from "../kit/kit.js";

/** (1.00, −2.50) */
export const tuple = (numbers, write = (x) => format(x, 2)) => `(${numbers.map(write).join(", ")})`;
