/** An attack on a process that was started for it. */
export type ProcessAttack<Target> = (
  target: Target,
  /** Once an answer: its status. */
  tell: (status: string) => void,
) => Promise<"none" | void>;

/** `count` of these, some at a time. */
export async function crowd(count: number, together: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: together }, one));
}
