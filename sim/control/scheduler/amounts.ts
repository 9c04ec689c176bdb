/** Amounts of resources as integers: thousandths of processors, bytes and whole units of everything else. */
import { parseQuantity, quantityAt } from "../../../wire/quantity.ts";

export type Amounts = ReadonlyMap<string, number>;

const known = new Map<string, number>();
const knownMax = 4096;

/** Of processors in thousandths, rounded up. */
function amountOf(resource: string, text: string): number {
  const key = resource === "cpu" ? `cpu ${text}` : text;
  const found = known.get(key);
  if (found !== undefined) return found;
  const quantity = parseQuantity(text);
  const amount = "error" in quantity ? 0 : Number(quantityAt(quantity, resource === "cpu" ? -3 : 0));
  if (known.size >= knownMax) known.clear();
  known.set(key, amount);
  return amount;
}

export function amountsOf(list: Readonly<Record<string, string>> = {}): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const resource of Object.keys(list)) amounts.set(resource, amountOf(resource, String(list[resource])));
  return amounts;
}

export function addTo(sum: Map<string, number>, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [resource, amount] of amounts) sum.set(resource, (sum.get(resource) ?? 0) + sign * amount);
}

/** The larger of both, resource by resource. */
export function raiseTo(sum: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts) sum.set(resource, Math.max(sum.get(resource) ?? 0, amount));
}
