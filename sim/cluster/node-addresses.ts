/** Where nodes and pods are on the network of a cluster. */

/** Of the node with this number, from 0. */
export const nodeAddress = (index: number): string => {
  const number = index + 1;
  return `172.${18 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
};

/** The addresses of a node's pods, without their last part. */
export const podNetwork = (index: number): string => `10.${128 + (index >> 8)}.${index & 255}`;
