// Elman's cell, the GRU and the LSTM in the page: one step forward, and one step back through time.
//
//   const cell = readCell(tensors, "gru", "rnn/layer.cells.0");  // weights as primer.recurrent stores them
//   const step = forward(cell, projected, before);               // { h, … }: keeps what the way back needs
//   const { dz, dh } = backward(cell, step, gradient);           // gradient = { h, c }: with respect to the state after
//
// Vectors are rows: a layer computes x W.  A matrix is { data, rows, columns }; the blocks of a gated cell's
// matrices stand side by side in the order of primer.recurrent.  `projected` is x W_x + b, `dz` the gradient
// with respect to it.

// All numbers are doubles: one kind of array keeps the loops below fast.
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const tanh = (x) => 1 - 2 / (1 + Math.exp(2 * x)); // to 1e-16, in half the time of Math.tanh

/** A matrix from its whole numbers, −127 to 127, and the size of their unit in each column. */
export function dequantize({ data: whole, shape: [rows, columns] }, { data: units }) {
  const data = new Float64Array(rows * columns);
  for (let at = 0; at < data.length; at++) data[at] = Math.fround(whole[at] * units[at % columns]);
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

/** y Wᵀ for one row y.  Four rows of W share each number of y, and none of their sums waits for another. */
export function timesTransposed(y, { data, rows, columns }) {
  const x = new Float64Array(rows);
  let i = 0;
  for (; i + 4 <= rows; i += 4) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let at = i * columns;
    let second = at + columns;
    let third = second + columns;
    let fourth = third + columns;
    for (let j = 0; j < columns; j++) {
      const value = y[j];
      a += value * data[at++];
      b += value * data[second++];
      c += value * data[third++];
      d += value * data[fourth++];
    }
    x[i] = a;
    x[i + 1] = b;
    x[i + 2] = c;
    x[i + 3] = d;
  }
  for (; i < rows; i++) for (let j = 0; j < columns; j++) x[i] += y[j] * data[i * columns + j];
  return x;
}

export function plus(x, y) {
  const total = new Float64Array(x.length);
  for (let i = 0; i < total.length; i++) total[i] = x[i] + y[i];
  return total;
}

/** The cell of a name among the tensors of a file. */
export function readCell(tensors, kind, name) {
  const matrix = (part) => dequantize(tensors[`${name}.${part}`], tensors[`${name}.${part}/unit`]);
  const state = matrix("state_weight");
  return {
    kind,
    size: state.rows,
    input: matrix("input_weight"),
    state,
    bias: Float64Array.from(tensors[`${name}.bias`].data),
    stateBias: Float64Array.from(tensors[`${name}.state_bias`]?.data ?? []),
  };
}

/** x W_x + b */
export const project = ({ input, bias }, x) => plus(times(x, input), bias);

/** The state before anything was read. */
export const zeroState = ({ size }) => ({ h: new Float64Array(size), c: new Float64Array(size) });

const FORWARD = {
  rnn: (z) => ({ h: z.map(tanh) }),
  gru({ size, stateBias }, projected, to, before) {
    const [h, r, u, g, reach] = Array.from({ length: 5 }, () => new Float64Array(size));
    for (let i = 0; i < size; i++) {
      r[i] = sigmoid(projected[i] + to[i]);
      u[i] = sigmoid(projected[size + i] + to[size + i]);
      reach[i] = to[2 * size + i] + stateBias[i]; // what the reset gate lets through
      g[i] = tanh(projected[2 * size + i] + r[i] * reach[i]);
      h[i] = g[i] + u[i] * (before.h[i] - g[i]);
    }
    return { h, r, u, g, reach, before };
  },
  lstm({ size }, z, before) {
    const [h, c, f, a, o, g, shown] = Array.from({ length: 7 }, () => new Float64Array(size));
    for (let i = 0; i < size; i++) {
      f[i] = sigmoid(z[i]);
      a[i] = sigmoid(z[size + i]);
      o[i] = sigmoid(z[2 * size + i]);
      g[i] = tanh(z[3 * size + i]);
      c[i] = f[i] * before.c[i] + a[i] * g[i];
      shown[i] = tanh(c[i]);
      h[i] = o[i] * shown[i];
    }
    return { h, c, f, a, o, g, shown, before };
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
  lstm(cell, { f, a, o, g, shown, before }, gradient) {
    const n = cell.size;
    const [dz, kept] = [4 * n, n].map((length) => new Float64Array(length));
    for (let i = 0; i < n; i++) {
      const dc = gradient.c[i] + gradient.h[i] * o[i] * (1 - shown[i] * shown[i]);
      dz[i] = dc * before.c[i] * f[i] * (1 - f[i]);
      dz[n + i] = dc * g[i] * a[i] * (1 - a[i]);
      dz[2 * n + i] = gradient.h[i] * shown[i] * o[i] * (1 - o[i]);
      dz[3 * n + i] = dc * a[i] * (1 - g[i] * g[i]);
      kept[i] = dc * f[i];
    }
    return { dz, h: timesTransposed(dz, cell.state), c: kept };
  },
};

/** One step back: gradients with respect to the projected input, and to the state before, { h, c }. */
export const backward = (cell, step, gradient) => BACKWARD[cell.kind](cell, step, gradient);
