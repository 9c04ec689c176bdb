/** `@types/seedrandom` types the package's entry, which reaches for node's crypto; this is the pure generator inside it. */
declare module "seedrandom/lib/alea.js" {
  import seedrandom from "seedrandom";
  const alea: typeof seedrandom.alea;
  export default alea;
}
