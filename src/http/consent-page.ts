import type { Asked } from '../auth/oauth-server.ts'
import { field } from './field.ts'
import { type Html, html, own, said } from './html.ts'

/** What a person is asked before a client may act for them. */
export function consentPage(about: {
  asked: Asked
  /** The name that is proposed for its agent. */
  agent: string
  /** Whether it may be given to write at all. */
  writes: boolean
  projects: readonly { id: string; name: string }[]
  /** Whether the sign-in is new enough to decide. */
  fresh: boolean
  wrong?: string
}): Html {
  const { asked, agent, writes, projects, fresh, wrong } = about
  const name = asked.client.name || 'A program without a name'
  return html`<h1>Let ${said(name)} use Done for you?</h1>${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<dl class="facts">${whoAsks(asked)}<dt>What it asks for</dt><dd>${asked.scopes.includes('write') ? 'To read everything that you can read, and to create and change tasks, projects and what belongs to them.' : 'To read everything that you can read.'}</dd>
<dt>What it never gets</dt><dd>It works as an agent of yours, not as you. It can’t sign off, set auto-OK, invite people or make credentials, and it never sees your password.</dd></dl>
${
  fresh
    ? html`<form method="post">${field('agent', 'Name of the agent as which it works', 'off', agent)}
<fieldset><legend>It may</legend>${writes && radio('access', 'write', 'read and write', true)}${radio('access', 'read', 'only read', !writes)}</fieldset>
<label for="tools">Tools</label><select id="tools" name="tools"><option value="">all of them</option><option value="worker">worker: a day’s work on tasks, nothing destructive</option><option value="planner">planner: setting up and tending a plan</option></select>
${projects.length > 0 && html`<fieldset><legend>Only these projects (none chosen: everything)</legend>${projects.map(({ id, name }) => html`<label class="choice"><input type="checkbox" name="project_${id}" value="on"> ${said(name)}</label>`)}</fieldset>`}
<div class="bar"><button class="pri" name="decision" value="allow">Allow</button><button name="decision" value="refuse" formnovalidate>Refuse</button><p class="why">You can take it back at any time under your account.</p></div></form>`
    : html`<div class="note stop"><p>This needs you and not just this browser: a sign-in within the last 15 minutes.</p></div><form method="post"><div class="bar"><a class="btn" href="/sign-in/again">Sign in again</a><button name="decision" value="refuse">Refuse</button></div></form>`
}`
}

function whoAsks({ client, returnsTo }: Asked): Html {
  const vouched = client.isDocument
    ? html`${said(new URL(client.id).host)} stands for this name.`
    : 'Anybody can give themselves this name: nobody has checked it.'
  return html`<dt>Who asks</dt><dd>${vouched}</dd><dt>Where the answer goes</dt><dd>${returnsTo === undefined ? html`to the program that showed you the code. <b>Go on only if you have just started it yourself.</b>` : goesTo(returnsTo)}</dd>`
}

/** Where a client waits for the answer, in words. */
function goesTo(address: string): Html {
  if (address === '') return html`to a program that showed a code`
  const { protocol, host } = new URL(address)
  if (protocol === 'https:') return html`to <b>${said(host)}</b>`
  return protocol === 'http:'
    ? html`to a program on the computer at which you sit (<b>${said(host)}</b>)`
    : html`to an app on this device that opens <b>${said(protocol)}</b> addresses`
}

function radio(name: string, value: string, label: string, chosen: boolean): Html {
  return html`<label class="choice"><input type="radio" name="${name}" value="${value}" ${own(chosen ? 'checked' : '')}> ${label}</label>`
}

/** Entering the code that a program shows which can't open a browser itself. */
export function enterCodePage({
  xsrf,
  code,
  wrong,
}: {
  xsrf: string
  code: string
  wrong: string | undefined
}): Html {
  return html`<h1>Connect a program</h1><p class="lead">A program that can’t open a browser shows a code of eight letters. Enter it only if you have started that program yourself: whoever sent you here with a code could work in your name.</p>${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<form method="post" action="/oauth/device"><input type="hidden" name="xsrf" value="${xsrf}">${field('user_code', 'Code', 'off', code)}<div class="bar"><button class="pri">Go on</button></div></form>`
}

/** Comparing the code once more. */
export function confirmCodePage({
  xsrf,
  code,
  client,
}: {
  xsrf: string
  code: string
  client: string
}): Html {
  return html`<h1>Is this your program?</h1><p class="lead">${said(client)} asks to use Done. The program on your screen shows this code:</p><p class="big">${code}</p>
<form method="post" action="/oauth/device"><input type="hidden" name="xsrf" value="${xsrf}"><input type="hidden" name="user_code" value="${code}"><div class="bar"><button class="pri" name="confirm" value="yes">It does</button><button name="abort" value="yes">It does not</button></div></form>`
}

/** A host that acts for somebody, as `list_grants` tells it. */
export interface Grant {
  id: string
  client?: string
  returns_to?: string
  agent: string
  scopes: readonly string[]
  presets?: readonly string[]
  projects?: readonly string[]
  state: 'good' | 'expired' | 'revoked'
  last_used_at?: string
  created_at: string
}

/** The hosts that act for somebody, each with the way to end that. */
export function grantsSection(grants: readonly Grant[], at: (moment: string) => string): Html {
  const good = grants.filter(({ state }) => state === 'good')
  const line = (each: Grant) => {
    const narrowed = [...(each.presets ?? []), ...(each.projects ?? [])].join(', ')
    return html`<li><span class="ttl">${said(each.client ?? 'A program without a name')}</span><form method="post" action="/account/grants/${each.id}/revoke"><button>Disconnect</button></form><span class="f">${each.id}; answers went ${goesTo(each.returns_to ?? '')}. Works as ${said(each.agent)}, may ${each.scopes.includes('write') ? 'read and write' : 'read'}${narrowed !== '' && `, narrowed to ${narrowed}`}. Connected ${at(each.created_at)}${each.last_used_at ? `, last used ${at(each.last_used_at)}` : ', never used'}.</span></li>`
  }
  return html`<h2>Connected hosts</h2>${good.length > 0 ? html`<ul class="list plain">${good.map(line)}</ul>` : html`<p class="lead">None. A host such as Claude or Cursor asks you here when you give it this server’s address.</p>`}`
}
