// The mathematics of the spectrogram: samples in, numbers out.  The tests compare it with primer.fourier.

const plans = new Map();

/** Cosines and sines of the half circle, and the bit-reversed order, for transforms of one size. */
function plan(size) {
  if (!plans.has(size)) {
    const half = (f) => Float64Array.from({ length: size / 2 }, (_, k) => f((2 * Math.PI * k) / size));
    const order = new Uint32Array(size);
    for (let i = 1; i < size; i++) order[i] = (order[i >> 1] >> 1) | (i & 1 ? size >> 1 : 0);
    plans.set(size, { cos: half(Math.cos), sin: half(Math.sin), order });
  }
  return plans.get(size);
}

function reorder(x, order) {
  for (let i = 0; i < x.length; i++) {
    const j = order[i];
    if (j <= i) continue;
    const kept = x[i];
    x[i] = x[j];
    x[j] = kept;
  }
}

/** X[k] = Σ x[n] exp(−2πi kn/N), in place, for N a power of two. */
export function fft(re, im) {
  const size = re.length;
  const { cos, sin, order } = plan(size);
  reorder(re, order);
  reorder(im, order);
  // Four transforms become one in each step; where the size is no power of four, pairs come first.
  let part = Math.log2(size) % 2 ? 2 : 1;
  for (let i = 0; i < size && part === 2; i += 2) {
    const [real, imaginary] = [re[i + 1], im[i + 1]];
    re[i + 1] = re[i] - real;
    im[i + 1] = im[i] - imaginary;
    re[i] += real;
    im[i] += imaginary;
  }
  for (; part < size; part *= 4) {
    const stride = size / (4 * part);
    for (let start = 0; start < size; start += 4 * part) {
      for (let a = start, turn = 0; a < start + part; a++, turn += stride) {
        const b = a + part;
        const c = b + part;
        const d = c + part;
        const bCos = cos[2 * turn];
        const bSin = sin[2 * turn];
        const cCos = cos[turn];
        const cSin = sin[turn];
        const dCos = bCos * cCos - bSin * cSin;
        const dSin = bSin * cCos + bCos * cSin;
        const bRe = re[b] * bCos + im[b] * bSin;
        const bIm = im[b] * bCos - re[b] * bSin;
        const cRe = re[c] * cCos + im[c] * cSin;
        const cIm = im[c] * cCos - re[c] * cSin;
        const dRe = re[d] * dCos + im[d] * dSin;
        const dIm = im[d] * dCos - re[d] * dSin;
        const oddRe = re[a] - bRe;
        const oddIm = im[a] - bIm;
        re[a] += bRe;
        im[a] += bIm;
        re[b] = oddRe + (cIm - dIm);
        im[b] = oddIm - (cRe - dRe);
        re[d] = oddRe - (cIm - dIm);
        im[d] = oddIm + (cRe - dRe);
        re[c] = re[a] - (cRe + dRe);
        im[c] = im[a] - (cIm + dIm);
        re[a] += cRe + dRe;
        im[a] += cIm + dIm;
      }
    }
  }
  return { re, im };
}

/** The least power of two that is not below a number. */
export const powerOfTwo = (least) => 2 ** Math.ceil(Math.log2(least));

export const SHAPES = {
  rectangular: () => 1,
  Hann: (n, length) => Math.sin((Math.PI * n) / length) ** 2,
  Gaussian: (n, length) => Math.exp(-0.5 * ((n - length / 2) / (length / 6)) ** 2),
};

/** The periodic window of one of these names. */
export function windowShape(name, length) {
  return new Float64Array(length).map((_, n) => SHAPES[name](n, length));
}

/** Every `every`-th sample, without a low-pass filter: what lies above half the new rate aliases. */
export function decimate(samples, every) {
  return new Float32Array(Math.ceil(samples.length / every)).map((_, n) => samples[n * every]);
}

/** The frequency in [0, fs/2] whose cosine has the same samples. */
export function aliasFrequency(frequency, rate) {
  return Math.abs(frequency - rate * Math.round(frequency / rate));
}

/**
 * |Σ x[n + c − ⌊M/2⌋] w[n] exp(−2πi kn/size)|² for each center c and 0 ≤ k ≤ size/2, scaled so that
 * a sine of amplitude 1 has the power 1.  Two real frames share one transform.
 */
export function framePowers(samples, window, centers, size) {
  const bins = size / 2 + 1;
  const power = new Float32Array(centers.length * bins);
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const unit = 1 / window.reduce((sum, w) => sum + w, 0) ** 2;
  const fill = (part, center) => {
    const first = center - (window.length >> 1);
    const end = Math.min(window.length, samples.length - first);
    part.fill(0);
    for (let n = Math.max(0, -first); n < end; n++) part[n] = samples[first + n] * window[n];
  };
  for (let m = 0; m < centers.length; m += 2) {
    fill(re, centers[m]);
    fill(im, centers[m + 1] ?? Infinity);
    fft(re, im);
    for (let k = 0, at = m * bins; k < bins; k++, at++) {
      const mirror = k ? size - k : 0;
      power[at] = unit * ((re[k] + re[mirror]) ** 2 + (im[k] - im[mirror]) ** 2);
      power[at + bins] = unit * ((im[k] + im[mirror]) ** 2 + (re[k] - re[mirror]) ** 2);
    }
  }
  return power;
}

/** The standard deviation of n, or of n counted around the circle, under the density `energy`. */
function deviation(energy, circular) {
  const size = energy.length;
  let [sum, mean, square] = [0, 0, 0];
  for (let n = 0; n < size; n++) {
    const position = circular && n >= size / 2 ? n - size : n;
    sum += energy[n];
    mean += energy[n] * position;
    square += energy[n] * position * position;
  }
  return Math.sqrt(square / sum - (mean / sum) ** 2);
}

/** The standard deviations σ_t and σ_f of a window's energy, as `primer.fourier.spread` has them. */
export function spread(window, rate) {
  const size = 8 * powerOfTwo(window.length);
  const re = new Float64Array(size);
  re.set(window);
  const im = new Float64Array(size);
  fft(re, im);
  for (let k = 0; k < size; k++) re[k] = re[k] * re[k] + im[k] * im[k];
  return {
    time:
      deviation(
        window.map((w) => w * w),
        false,
      ) / rate,
    frequency: (deviation(re, true) * rate) / size,
  };
}

/**
 * The peaks of a spectrum, as fractional bins: the maxima within 10 dB of the highest, between which
 * it falls to less than half.
 */
export function peaks(power) {
  const least = 0.1 * power.reduce((a, b) => Math.max(a, b), 0);
  const found = [];
  let rising = true;
  let turn = 0;
  for (let k = 1; k < power.length && least > 0; k++) {
    if (rising ? power[k] > power[turn] : power[k] < power[turn]) turn = k;
    else if (rising && power[k] < 0.5 * power[turn]) {
      if (power[turn] >= least) found.push(turn);
      [rising, turn] = [false, k];
    } else if (!rising && power[k] > 2 * power[turn]) [rising, turn] = [true, k];
  }
  if (rising && least > 0 && power[turn] >= least) found.push(turn);
  const last = power.length - 1;
  return found.map((k) => {
    // The top of the parabola through the logarithms of three neighbors; a spectrum mirrors at its ends.
    const [a, b, c] = [Math.abs(k - 1), k, last - Math.abs(last - k - 1)].map((i) =>
      Math.log(power[i] + 1e-30),
    );
    return k + (a === c ? 0 : (0.5 * (a - c)) / (a - 2 * b + c));
  });
}

/** The band-limited function through the samples, `factor` (a power of two) times as finely. */
export function interpolate(samples, factor) {
  const size = powerOfTwo(samples.length);
  const re = new Float64Array(size * factor);
  const im = new Float64Array(size * factor);
  const part = {
    re: Float64Array.from({ length: size }, (_, n) => samples[n] ?? 0),
    im: new Float64Array(size),
  };
  fft(part.re, part.im);
  // Positive frequencies stay at the start, negative ones move to the end; between them nothing.
  for (let k = 0; k < size; k++) {
    const at = k <= size / 2 ? k : k + size * (factor - 1);
    const weight = (k === size / 2 && factor > 1 ? 0.5 : 1) / size;
    for (const to of weight === 1 / size ? [at] : [at, at + size * (factor - 1)]) {
      re[to] = weight * part.re[k];
      im[to] = -weight * part.im[k]; // the inverse transform is the conjugate of the transform
    }
  }
  return fft(re, im).re.slice(0, samples.length * factor);
}
