import { describe, expect, it } from 'vitest'
import { PEOPLE_CATALOG } from '../people/catalog.ts'
import { CATALOG } from '../tools/catalog.ts'
import { annotationsFor, TOOL_NAMES, WRITE_TOOLS } from '../tools/effects.ts'
import { docsPage } from './docs-page.ts'
import { openapi } from './openapi.ts'

const spec = JSON.parse(JSON.stringify(openapi())) as any

const { '/api/events': stream, ...calls } = spec.paths

const operations: { path: string; method: string; is: any }[] = Object.entries(calls).flatMap(
  ([path, methods]) => Object.entries(methods as object).map(([method, is]) => ({ path, method, is })),
)

describe('the OpenAPI document', () => {
  it('has each tool and each operation for people once, by name', () => {
    const names = operations.map(({ is }) => is.operationId as string)
    expect(names.sort()).toEqual([...TOOL_NAMES, ...Object.keys(PEOPLE_CATALOG)].sort())
    expect(spec.openapi).toMatch(/^3\.1\./)
  })

  it('declares every parameter of a path, and no other', () => {
    for (const { path, is } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      const declared = is.parameters.filter((each: { in: string }) => each.in === 'path')
      expect(
        declared.map((each: { name: string }) => each.name),
        path,
      ).toEqual(inPath)
      for (const each of declared) expect(each.required).toBe(true)
      for (const each of is.parameters)
        expect(Boolean(each.schema) !== Boolean(each.content), path).toBe(true)
      const names = is.parameters.map((each: { in: string; name: string }) => `${each.in} ${each.name}`)
      expect(new Set(names).size).toBe(names.length)
    }
  })

  it('reads by GET without a body, and says the same as the catalogue', () => {
    for (const { path, method, is } of operations) {
      const body = is.requestBody?.content['application/json']
      if (method === 'get' || method === 'delete') expect(is.requestBody, path).toBeUndefined()
      if (body) {
        expect(body.schema).toMatchObject({ type: 'object', additionalProperties: false })
        for (const key of Object.keys(body.example))
          expect(Object.keys(body.schema.properties), path).toContain(key)
        for (const key of body.schema.required ?? []) expect(Object.keys(body.example), path).toContain(key)
      }
      const people = Object.hasOwn(PEOPLE_CATALOG, is.operationId)
      expect(is.security).toEqual(people ? [{ session: [] }] : [{ token: [] }, { session: [] }])
      if (people) continue
      expect(is['x-annotations']).toEqual(annotationsFor(is.operationId))
      expect(is['x-scope']).toBe(WRITE_TOOLS.has(is.operationId) ? 'write' : 'read')
      expect(method === 'get').toBe(is['x-annotations'].readOnlyHint)
      expect(is.description).toBe(CATALOG[is.operationId as keyof typeof CATALOG].does)
    }
  })

  it('has the stream of events, and how to come back to it', () => {
    const names = stream.get.parameters.map((each: { in: string; name: string }) => `${each.in} ${each.name}`)
    expect(names).toEqual(['header Last-Event-ID', 'query after'])
    expect(Object.keys(stream.get.responses[200].content)).toEqual(['text/event-stream'])
  })

  it('refers to nothing that is not there', () => {
    const refs = JSON.stringify(spec).match(/"\$ref":"[^"]+"/g) ?? []
    expect(refs.length).toBeGreaterThan(0)
    for (const ref of new Set(refs)) {
      const path = ref.slice(9, -1).split('/').slice(1)
      expect(
        path.reduce((at, key) => at?.[key], spec),
        ref,
      ).toBeDefined()
    }
    for (const { is, path } of operations) {
      expect(is.responses[200].content['application/json'].schema.type, path).toBe('object')
      for (const status of [400, 401, 403, 404, 500, 503]) expect(is.responses[status], path).toBeDefined()
      const tags = spec.tags.map((each: { name: string }) => each.name)
      for (const tag of is.tags) expect(tags).toContain(tag)
    }
  })
})

describe('the reference', () => {
  const page = docsPage('http://127.0.0.1:4747').markup

  it('shows each tool with its hints, scope, arguments and a command', () => {
    for (const name of TOOL_NAMES) expect(page, name).toContain(`<section class="tool" id="${name}">`)
    for (const name of Object.keys(PEOPLE_CATALOG)) expect(page, name).toContain(`id="${name}"`)
    expect(page.match(/<span class="chip out">/g)?.length ?? 0).toBe(
      TOOL_NAMES.filter((name) => annotationsFor(name).openWorldHint).length,
    )
    expect(page.match(/<span class="chip over">/g)).toHaveLength(
      TOOL_NAMES.filter((name) => annotationsFor(name).destructiveHint).length,
    )
  })

  it('needs no script and nothing from elsewhere', () => {
    expect(page).not.toMatch(/<script|<link|<img|style=|\son\w+=/)
    for (const [, address] of page.matchAll(/(?:href|src)="([^"]+)"/g)) expect(address).toMatch(/^[#/]/)
  })
})
