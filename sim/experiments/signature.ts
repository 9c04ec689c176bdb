/**
 * What failures of one kind have in common: the promise, and what was expected and seen, without the numbers and names
 * that differ from run to run. Failures are grouped by it, and a shrunk one must keep it.
 */
export function signatureOf(requirement: string, expected: string, actual: string): string {
  return `${requirement} [${masked(expected)}] [${masked(actual)}]`;
}

const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "#")
    .replace(/[a-z0-9-]+-\d+(?:-\d+)*(?:-[a-z0-9]{5})?\b/g, (name) => name.replace(/\d.*$/, "#"))
    .replace(/\d+(?:\.\d+)?/g, "#")
    .slice(0, 300);
