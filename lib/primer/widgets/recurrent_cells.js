// Elman's cell, the GRU and the LSTM in the page: one step forward, and one step back through time.
//
//   const cell = readCell(tensors, "gru", "rnn/layer.cells.0");  // weights as primer.recurrent stores them
//   const step = forward(cell, projected, before);               // { h, … }: keeps what the way back needs
//   const { dz, dh } = backward(cell, step, gradient);           // gradient = { h, c }: with respect to the state after
//
// Vectors are rows: a layer computes x W.  A matrix is { data, rows, columns }; the blocks of a gated cell's
// matrices stand side by side in the order of primer.recurrent.  `projected` is x W_x + b, `dz` the gradient
// with respect to it.

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** A matrix from its whole numbers, −127 to 127, and the size of their unit in each column. */
export function dequantize({ data: whole, shape: [rows, columns] }, { data: units }) {
  const data = new Float32Array(rows * columns);
  for (let at = 0; at < data.length; at++) data[at] = whole[at] * units[at % columns];
  return { data, rows, columns };
}

/** x W for one row x.  Four rows of W share each sum that is read and written. */
export function times(x, { data, rows, columns }) {
  const y = new Float64Array(columns);
  let i = 0;
  for (; i + 4 <= rows; i += 4) {
    const a = x[i];
    const b = x[i + 1];
    const c = x[i + 2];
    const d = x[i + 3];
    let at = i * columns;
    let second = at + columns;
    let third = second + columns;
    let fourth = third + columns;
    for (let j = 0; j < columns; j++)
      y[j] += a * data[at++] + b * data[second++] + c * data[third++] + d * data[fourth++];
  }
  for (; i < rows; i++) for (let j = 0; j < columns; j++) y[j] += x[i] * data[i * columns + j];
  return y;
}

/** y Wᵀ for one row y, in four sums at a time, so that none waits for the one before. */
export function timesTransposed(y, { data, rows, columns }) {
  const x = new Float64Array(rows);
  const whole = columns - (columns % 4);
  for (let i = 0; i < rows; i++) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let at = i * columns;
    let j = 0;
    for (; j < whole; j += 4, at += 4) {
      a += y[j] * data[at];
      b += y[j + 1] * data[at + 1];
      c += y[j + 2] * data[at + 2];
      d += y[j + 3] * data[at + 3];
    }
    for (; j < columns; j++, at++) a += y[j] * data[at];
    x[i] = a + b + c + d;
  }
  return x;
}

export const plus = (x, y) => x.map((value, i) => value + y[i]);

/** The cell of a name among the tensors of a file. */
export function readCell(tensors, kind, name) {
  const matrix = (part) => dequantize(tensors[`${name}.${part}`], tensors[`${name}.${part}/unit`]);
  const state = matrix("state_weight");
  return {
    kind,
    size: state.rows,
    input: matrix("input_weight"),
    state,
    bias: tensors[`${name}.bias`].data,
    stateBias: tensors[`${name}.state_bias`]?.data,
  };
}

/** x W_x + b */
export const project = ({ input, bias }, x) => plus(times(x, input), bias);

/** The state before anything was read. */
export const zeroState = ({ size }) => ({ h: new Float64Array(size), c: new Float64Array(size) });

const FORWARD = {
  rnn: (z) => ({ h: z.map(Math.tanh) }),
  gru({ size, stateBias }, projected, to, before) {
    const [h, r, u, g, reach] = Array.from({ length: 5 }, () => new Float64Array(size));
    for (let i = 0; i < size; i++) {
      r[i] = sigmoid(projected[i] + to[i]);
      u[i] = sigmoid(projected[size + i] + to[size + i]);
      reach[i] = to[2 * size + i] + stateBias[i]; // what the reset gate lets through
      g[i] = Math.tanh(projected[2 * size + i] + r[i] * reach[i]);
      h[i] = g[i] + u[i] * (before.h[i] - g[i]);
    }
    return { h, r, u, g, reach, before };
  },
  lstm({ size }, z, before) {
    const [h, c, f, a, o, g] = Array.from({ length: 6 }, () => new Float64Array(size));
    for (let i = 0; i < size; i++) {
      [f[i], a[i], o[i]] = [z[i], z[size + i], z[2 * size + i]].map(sigmoid);
      g[i] = Math.tanh(z[3 * size + i]);
      c[i] = f[i] * before.c[i] + a[i] * g[i];
      h[i] = o[i] * Math.tanh(c[i]);
    }
    return { h, c, f, a, o, g, before };
  },
};

/**
 * One step: the new state, with all that the way back needs.
 *
 * @param {any} before
 */
export function forward(cell, projected, before) {
  const to = times(before.h, cell.state);
  if (cell.kind === "gru") return FORWARD.gru(cell, projected, to, before);
  const z = plus(to, projected);
  return cell.kind === "rnn" ? FORWARD.rnn(z) : FORWARD.lstm(cell, z, before);
}

const BACKWARD = {
  rnn(cell, { h }, gradient) {
    const dz = h.map((value, i) => gradient.h[i] * (1 - value * value));
    return { dz, h: timesTransposed(dz, cell.state) };
  },
  gru(cell, { r, u, g, reach, before }, gradient) {
    const n = cell.size;
    const [dz, to, kept] = [3 * n, 3 * n, n].map((length) => new Float64Array(length));
    for (let i = 0; i < n; i++) {
      const slope = gradient.h[i] * (1 - u[i]) * (1 - g[i] * g[i]);
      dz[i] = to[i] = slope * reach[i] * r[i] * (1 - r[i]);
      dz[n + i] = to[n + i] = gradient.h[i] * (before.h[i] - g[i]) * u[i] * (1 - u[i]);
      dz[2 * n + i] = slope;
      to[2 * n + i] = slope * r[i];
      kept[i] = gradient.h[i] * u[i];
    }
    return { dz, h: plus(timesTransposed(to, cell.state), kept) };
  },
  lstm(cell, { c, f, a, o, g, before }, gradient) {
    const n = cell.size;
    const [dz, kept] = [4 * n, n].map((length) => new Float64Array(length));
    for (let i = 0; i < n; i++) {
      const shown = Math.tanh(c[i]);
      const dc = gradient.c[i] + gradient.h[i] * o[i] * (1 - shown * shown);
      dz[i] = dc * before.c[i] * f[i] * (1 - f[i]);
      dz[n + i] = dc * g[i] * a[i] * (1 - a[i]);
      dz[2 * n + i] = gradient.h[i] * shown * o[i] * (1 - o[i]);
      dz[3 * n + i] = dc * a[i] * (1 - g[i] * g[i]);
      kept[i] = dc * f[i];
    }
    return { dz, h: timesTransposed(dz, cell.state), c: kept };
  },
};

/** One step back: gradients with respect to the projected input, and to the state before, { h, c }. */
export const backward = (cell, step, gradient) => BACKWARD[cell.kind](cell, step, gradient);
