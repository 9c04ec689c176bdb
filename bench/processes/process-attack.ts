/** An attack on a process that was started for it. */
export type ProcessAttack<Target> = (
  target: Target,
  /** Once an answer: its status. */
  tell: (status: string) => void,
) => Promise<"none" | void>;
