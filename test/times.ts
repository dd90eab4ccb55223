/** How often something is tried: a few times in every run of the tests, many times in the long run of `npm run check`. */
export const times = (usual: number, long: number): number => (process.env.DONE_LONG ? long : usual)
