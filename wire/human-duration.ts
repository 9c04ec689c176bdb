/**
 * How long ago something was, as tables show it: two units at most, the second only while the first is small
 * (`45s`, `3m20s`, `5h10m`, `2d3h`, `400d`, `3y20d`).
 * Source: recorded tables; the rules of the published client libraries.
 */

/** `seconds` may be negative, up to a second, for clocks that are not quite in step. */
export function humanDuration(seconds: number): string {
  const whole = Math.trunc(seconds);
  if (whole < -1) return "<invalid>";
  if (whole < 0) return "0s";
  if (whole < 120) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 10) return joined(minutes, "m", whole % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return joined(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return joined(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? joined(years, "y", days % 365, "d") : `${years}y`;
}

const joined = (first: number, firstUnit: string, second: number, secondUnit: string): string =>
  second === 0 ? `${first}${firstUnit}` : `${first}${firstUnit}${second}${secondUnit}`;
