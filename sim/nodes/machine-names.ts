/** Where nodes and pods are on the network of a served cluster. */

/** Of the node with this number. */
export const nodeAddress = (index: number): string => `172.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;

/** The range of a node's pods, without its last part. */
const podNet = (index: number): string => `10.${128 + (index >> 8)}.${index & 255}`;

export const podRange = (index: number): string => `${podNet(index)}.0/24`;

/** Addresses of pods on one node: the lowest that is free. */
export class PodAddresses {
  private readonly net: string;
  private readonly taken = new Set<number>();

  constructor(index: number) {
    this.net = podNet(index);
  }

  /** Undefined when all are taken. */
  take(): string | undefined {
    for (let last = 2; last < 255; last++) {
      if (this.taken.has(last)) continue;
      this.taken.add(last);
      return `${this.net}.${last}`;
    }
    return undefined;
  }

  /** One that a pod has from before. */
  keep(address: string): void {
    if (address.startsWith(`${this.net}.`)) this.taken.add(Number(address.slice(this.net.length + 1)));
  }

  free(address: string): void {
    if (address.startsWith(`${this.net}.`)) this.taken.delete(Number(address.slice(this.net.length + 1)));
  }
}
