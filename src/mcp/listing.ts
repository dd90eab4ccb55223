import { instructionsFor } from './instructions.ts'
import type { ListedTool } from './tool-file.ts'

/** What a connection lists, and what follows from it. */
export interface Listing {
  tools: readonly ListedTool[]
  names: ReadonlySet<string>
  instructions: string
}

const listings = new WeakMap<readonly ListedTool[], Listing>()

/** Made once a list. */
export function listingOf(tools: readonly ListedTool[]): Listing {
  let listing = listings.get(tools)
  if (!listing) {
    const names = tools.map((tool) => tool.name)
    listing = { tools, names: new Set(names), instructions: instructionsFor(names) }
    listings.set(tools, listing)
  }
  return listing
}
