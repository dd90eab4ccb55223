import manifest from '../package.json' with { type: 'json' }

/** This program's version, as the package says. */
export const VERSION: string = manifest.version
