/** A container's identity: another one means that it must be made anew. */
import type { Container } from "../pods/pod-types.ts";

/** Source: the facts, Starting: only the name and the image count. FNV-1a of 32 bits, as hexadecimal digits. */
export function containerHash({ name, image }: Container): string {
  const text = JSON.stringify({ image, name });
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16);
}
