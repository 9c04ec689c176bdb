/** `date +FORMAT` for a moment in UTC, without a calendar of the host. */
import { formatTime } from "../../../wire/time.ts";

const days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function formatDate(format: string, unixSeconds: number): string {
  const iso = formatTime(unixSeconds);
  const [year, month, day] = iso.slice(0, 10).split("-") as [string, string, string];
  const time = iso.slice(11, 19);
  const fields: Readonly<Record<string, string>> = {
    Y: year,
    m: month,
    d: day,
    e: day.replace(/^0/, " "),
    H: time.slice(0, 2),
    M: time.slice(3, 5),
    S: time.slice(6, 8),
    N: "000000000",
    s: String(unixSeconds),
    a: days[Math.floor(unixSeconds / 86_400) % 7] as string,
    b: months[Number(month) - 1] as string,
    F: iso.slice(0, 10),
    T: time,
    Z: "UTC",
    z: "+0000",
    n: "\n",
    "%": "%",
  };
  return format.replace(/%(.)/g, (all, letter: string) => fields[letter] ?? all);
}

/** For log lines: RFC 3339 with nanoseconds. */
export function logTime(epochUnixMillis: number, micros: number): string {
  const total = epochUnixMillis * 1000 + micros;
  const seconds = Math.floor(total / 1_000_000);
  return `${formatTime(seconds).slice(0, -1)}.${String(total - seconds * 1_000_000).padStart(6, "0")}000Z`;
}
