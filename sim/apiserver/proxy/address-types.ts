/** Types of a node's addresses in the order in which the real server asks agents there, unless it is told another. */
export const defaultAddressTypes: readonly string[] = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
];
