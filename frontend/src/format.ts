/** Numbers and times for people, each number with its unit. */

export const NO_DATA = "no data";

const WHOLE = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export function count(value: number): string {
  return WHOLE.format(value);
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `rate` in 0..1. Only exactly 0 and 1 read as 0 % and 100 %. */
export function percent(rate: number): string {
  if (rate > 0 && rate < 0.001) return "< 0.1 %";
  if (rate < 1 && rate > 0.999) return "> 99.9 %";
  return `${SHORT.format(rate * 100)} %`;
}

/** Decimal units: 1 kB is 1000 bytes. */
export function bytes(value: number): string {
  let unit = 0;
  let amount = value;
  while (amount >= 999.95 && unit < BYTE_UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${SHORT.format(amount)} ${BYTE_UNITS[unit]}`;
}

export function seconds(milliseconds: number): string {
  const value = milliseconds / 1000;
  return `${value < 0.1 ? value.toFixed(2) : value.toFixed(1)} s`;
}

export function milliseconds(value: number): string {
  return `${SHORT.format(value)} ms`;
}

/** A day on the reader's own clock; `time` is ISO 8601. */
export function day(time: string): string {
  return DAY.format(new Date(time));
}

export function moment(time: string): string {
  return MOMENT.format(new Date(time));
}
