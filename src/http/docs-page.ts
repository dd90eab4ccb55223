import type { Operation } from '../people/operation.ts'
import { annotationsFor, toolNamed } from '../tools/effects.ts'
import { scopeOf } from '../tools/guard.ts'
import { schemaOf } from '../tools/parse.ts'
import type { JsonSchema } from '../tools/schema.ts'
import type { Address } from './address.ts'
import { type Html, html } from './html.ts'
import { count } from './page.ts'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from './rest.ts'

/** A reference of every address, from the same catalogues as everything else. */
export function docsPage(site: string): Html {
  const names = [...new Set(TOOL_ADDRESSES.map(({ tool }) => tool.toolset))]
  const groups = names.map(
    (name) => [name, TOOL_ADDRESSES.filter(({ tool }) => tool.toolset === name)] as const,
  )
  return html`<h1>Tools and addresses</h1>
<p class="lead">${count(TOOL_ADDRESSES.length, 'tool')}, each with an address of its own. Over MCP they stand at <code>${site}/mcp</code>. The same as data: <a href="/api/openapi.json">openapi.json</a>. What happens comes as a stream: <code>GET /api/events</code>.</p>
<p class="lead">An agent sends its token: <code>Authorization: Bearer done_…</code>. Arguments go in the query of a GET or DELETE and in a JSON body of anything else. A refusal is <code>{"error": {"code", "message", "allowed", "next", "retry"}}</code>.</p>
<nav aria-label="Tools">${groups.map(([name, addresses]) => html`<h2>${name}</h2>${contents(addresses)}`)}<h2>For people only</h2>${contents(PEOPLE_ADDRESSES)}</nav>
${groups.map(([name, addresses]) => html`<h2 id="${name}">${name}</h2>${addresses.map((each) => entry(each, site))}`)}
<h2 id="people">For people only</h2><p class="t2">With a person’s own session. Every token and grant is refused with <code>people_only</code>; no MCP list carries these.</p>
${PEOPLE_ADDRESSES.map((each) => entry(each, site))}`
}

function contents(addresses: readonly Address[]): Html {
  return html`<ul class="toc">${addresses.map(({ name }) => html`<li><a class="mono" href="#${name}">${name}</a></li>`)}</ul>`
}

function entry(address: Address, site: string): Html {
  const { name, tool, method, path } = address
  const { properties = {}, required = [] } = schemaOf(tool)
  const rows = Object.entries(properties).map(
    ([key, schema]) =>
      html`<tr><td class="mono">${key}</td><td>${typeOf(schema)}</td><td>${required.includes(key) ? 'needed' : ''}</td><td>${schema.description ?? ''}</td></tr>`,
  )
  const table = html`<table><thead><tr><th>Argument</th><th>Type</th><th></th><th></th></tr></thead><tbody>${rows}</tbody></table>`
  return html`<section class="tool" id="${name}"><h3>${name}</h3><p>${tool.does}</p><div class="row">${chips(address)}</div><p class="mono small t2">${method} ${path}</p>${rows.length > 0 && table}<pre>${curl(address, site)}</pre></section>`
}

function chips({ name, tool }: Address): Html {
  if (toolNamed(name) !== tool) {
    const { role, fresh } = tool as Operation
    return html`<span class="chip">Role ${role}</span>${fresh && html`<span class="chip">Sign-in within 15 minutes</span>`}`
  }
  const hints = annotationsFor(name)
  return html`${hints.readOnlyHint && html`<span class="chip">Reads</span>`}${!hints.readOnlyHint && !hints.destructiveHint && html`<span class="chip adds">Adds</span>`}${hints.destructiveHint && html`<span class="chip over">Overwrites</span>`}${!hints.readOnlyHint && hints.idempotentHint && html`<span class="chip">Repeats safely</span>`}${hints.openWorldHint && html`<span class="chip out">Reaches outside</span>`}<span class="chip">Scope ${scopeOf(name)}</span>`
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'anything'}`
  return schema.type ?? 'anything'
}

/** The example of the catalogue, as a command. */
function curl({ name, tool, method, path, params }: Address, site: string): string {
  const example = Object.entries(tool.example)
  const at = path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(tool.example[key] ?? key)))
  const rest = example.filter(([key]) => !params.includes(key))
  const query = new URLSearchParams()
  for (const [key, value] of rest) {
    for (const each of Array.isArray(value) ? value : [value])
      query.append(key, typeof each === 'object' ? JSON.stringify(each) : String(each))
  }
  const inQuery = method === 'GET' || method === 'DELETE'
  const address = `${site}${at}${inQuery && query.size > 0 ? `?${query}` : ''}`
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const json = JSON.stringify(Object.fromEntries(rest)).replaceAll("'", `'\\''`)
  const data =
    inQuery || rest.length === 0 ? '' : ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`
  const credential =
    toolNamed(name) === tool
      ? '-H "Authorization: Bearer $DONE_TOKEN"'
      : `-b "done_session=$SESSION" -H 'Origin: ${site}'`
  return `curl${verb} '${address}' \\\n  ${credential}${data}`
}
