import type { PersonActor } from '../model/actor.ts'
import type { Brief, SignOffFacts } from '../people/facts.ts'
import { wordDiff } from './diff.ts'
import { type Html, html, said } from './html.ts'
import { longDiff, longText } from './long-text.ts'
import { ago, count, duration, glyph, mark, momentIn, nameOf, SEAL } from './page.ts'
import { passkeyForm } from './passkey-page.ts'
import { beganWords } from './words.ts'

/** How the one who looks sees time. */
interface Clock {
  now: number
  zone: string
}

/** What a decision that was not taken has to say, above everything else. */
export interface Notice {
  title: string
  text: string
}

/**
 * A request for sign-off: what Done recorded first, in a solid frame, then the agent's words, in a face and behind a rule
 * of their own (design: page, "The idea"). Nothing of it needs script.
 */
export function signOffPage(
  facts: SignOffFacts,
  person: PersonActor,
  now: number,
  { notice, byPasskey }: { notice: Notice | undefined; byPasskey: boolean },
): Html {
  const clock = { now, zone: person.zone }
  const { task } = facts
  return html`
<div class="crumb"><b>${task.id}</b>${task.project && said(task.project)}<span>${facts.id}</span></div>
<h1>${said(task.title)}</h1>
<div class="ask">${mark(facts.asked_by)}<span><b>${said(nameOf(facts.asked_by))}</b> ${asks(facts)} <span class="t3">${ago(facts.asked_at, now)}. Opened by ${said(nameOf(task.created_by))} on ${momentIn(person.zone)(task.created_at)}.</span></span></div>
${notice && html`<div class="note stop" role="alert"><p><b>${notice.title}</b></p><p>${notice.text}</p></div>`}
${trashNote(facts, person, clock) ?? stateNote(facts, clock)}
${notice || facts.state === 'stale' ? since(facts, clock, notice ? 'Changed since you opened the page' : 'Changed since it was asked') : null}
${ledger(facts, clock)}
${facts.words.map((word) => words(word, clock))}
${bar(facts, clock, byPasskey)}`
}

function asks({ asks: target, task, state, trashed }: SignOffFacts): string {
  const verb = state === 'pending' && !trashed ? 'asks' : 'asked'
  return target === 'done'
    ? `${verb} to close this task as done`
    : `${verb} to cancel ${task.id}: it should not be done`
}

/** How the task went to the Trash, and its request with it, and the way back. */
function trashNote(
  { trashed, task, state, id }: SignOffFacts,
  person: PersonActor,
  { zone }: Clock,
): Html | null {
  if (!trashed) return null
  const { by, at, object, title } = trashed
  const whole = object === task.id ? '' : html`, with ${object} ${said(title)}`
  const back =
    state === 'pending' ? 'This request no longer waits. Brought back, it waits again, as it was.' : null
  return html`<div class="note stop"><p><b>${said(nameOf(by))} deleted ${task.id} on ${momentIn(zone)(at)}${whole}.</b></p>${back && html`<p>${back}</p>`}${bringBack(`/sign-off/${id}/bring-back`, person)}</div>`
}

/** The button that takes something out of the Trash; not for those who can only read. */
export function bringBack(action: string, { role }: PersonActor): Html | null {
  if (role === 'viewer') return null
  return html`<form method="post" action="${action}"><button>Bring back</button></form>`
}

/** What became of a request that no longer waits. */
function stateNote(facts: SignOffFacts, { zone }: Clock): Html | null {
  const { decision, state } = facts
  const at = momentIn(zone)
  if (state === 'pending') return null
  if (state === 'stale') {
    const by = facts.stale
      ? html`: voided by ${said(`${nameOf(facts.stale.by)}’s`)} change on ${at(facts.stale.at)}`
      : null
    return html`<div class="note"><p><b>This request is no longer valid${by}.</b></p><p>The agent can ask again; then there is a new request.</p></div>`
  }
  const who = decision ? html`${said(nameOf(decision.by))}, ${at(decision.at)}` : 'somebody'
  if (state === 'approved') {
    const began = decision?.began ? html` They were signed in by ${beganWords(decision.began)}.` : null
    return html`<div class="note ok"><p><b>Signed off by ${who}.</b>${began}</p></div>`
  }
  if (state === 'rejected') {
    return html`<div class="note stop"><p><b>Sent back by ${who}.</b></p><div class="keep">${longText(decision?.note ?? '')}</div></div>`
  }
  return html`<div class="note"><p><b>Withdrawn by ${who}.</b></p></div>`
}

function since(facts: SignOffFacts, clock: Clock, title: string): Html {
  const rows = facts.changed_since.map((change) => field(change, clock))
  const nothing = html`<p class="t2">None of its own fields or parts: a subtask changed, or a request was decided in between.</p>`
  return html`<section class="ledger"><header>${SEAL}<b>${title}</b></header><dl>${row('Changed', count(facts.changed_since.length, 'change'), rows.length > 0 ? rows : nothing)}</dl></section>`
}

/** The facts, in a fixed order: what changed, steps, evidence, runs, who, what closing frees. Bad news is never folded. */
function ledger(facts: SignOffFacts, clock: Clock): Html {
  const { task } = facts
  const asked = facts.unchanged ? 'unchanged since the request' : 'not what was asked for any more'
  return html`<section class="ledger" aria-label="What Done recorded"><header>${SEAL}<b>What Done recorded</b><span>Content version ${task.content_version}, ${asked}</span></header><dl>
${row('Changed', facts.changed.length > 0 ? count(facts.changed.length, 'change') : '', facts.changed.length > 0 ? facts.changed.map((change) => field(change, clock)) : html`<span class="t2">Nothing since it was opened.</span>`)}
${row('Task', '', taskFacts(facts))}
${steps(facts, clock)}
${
  facts.subtasks.length > 0 &&
  row(
    'Subtasks',
    count(facts.subtasks.length, 'task'),
    facts.subtasks.map(
      (each) =>
        html`<div class="row">${glyph(each.status)}<span class="t3">${each.id}</span>${said(each.title)}</div>`,
    ),
  )
}
${evidence(facts)}
${runs(facts)}
${row('Done by', '', doneBy(facts))}
${frees(facts)}
${
  facts.questions.length > 0 &&
  row(
    'Still asked',
    count(facts.questions.length, 'question'),
    facts.questions.map(
      (each) =>
        html`<div class="row"><a class="t3" href="/questions/${each.id}">${each.id}</a>${said(each.text)}</div>`,
    ),
  )
}
</dl></section>`
}

function row(name: string, figure: string | Html, content: Html | readonly Html[]): Html {
  return html`<div class="lr"><dt><b>${name}</b>${figure}</dt><dd>${content}</dd></div>`
}

function field(change: SignOffFacts['changed'][number], { zone }: Clock): Html {
  const name = change.field.replaceAll('_', ' ')
  return html`<div class="fld"><span>${name[0]!.toUpperCase()}${name.slice(1)}</span><div class="keep">${difference(textOf(change.was), textOf(change.now))}</div><span class="by">${change.by.map((party) => mark(party))}<time>${momentIn(zone)(change.at)}</time></span></div>`
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

function difference(was: string, now: string): Html {
  if (now === '') return longDiff([{ kind: 'gone', text: was }])
  if (was === '') return longDiff([{ kind: 'new', text: now }])
  // A short value reads best as a whole; only texts are compared word by word.
  if (was.length + now.length < 60) return html`<bdi><del>${was}</del> <ins>${now}</ins></bdi>`
  return longDiff(wordDiff(was, now))
}

function taskFacts({ task }: SignOffFacts): Html {
  const facts = [
    task.assignee && html`for ${said(nameOf(task.assignee))}`,
    task.due && html`due ${task.due}`,
    task.parent && html`part of ${task.parent}`,
    task.recurrence && html`repeats: ${said(task.recurrence)}`,
    task.auto_ok && html`auto-OK`,
  ].filter((each): each is Html => typeof each === 'object' && each !== null)
  const line =
    facts.length > 0
      ? html`<p class="t2">${facts.map((each, i) => html`${i > 0 && ' · '}${each}`)}</p>`
      : null
  if (task.description === '') return html`${line}<p class="t3">No description.</p>`
  return html`${line}<div class="keep">${longText(task.description)}</div>`
}

function steps(facts: SignOffFacts, { zone }: Clock): Html | null {
  if (facts.steps.length === 0) return null
  const failed = facts.steps.filter((step) => step.status === 'failed').length
  const finished = facts.steps.filter((step) => step.status === 'done' || step.status === 'skipped').length
  const figure = html`${finished} of ${facts.steps.length}${failed > 0 && html`, <span class="bad">${failed} failed</span>`}`
  return row(
    'Steps',
    figure,
    facts.steps.map(
      (step) =>
        html`<div class="row">${glyph(step.status)}<span>${said(step.title)}${step.status !== 'done' && html` <span class="${step.status === 'failed' ? 'bad' : 't3'}">${step.status.replace('_', ' ')}</span>`}</span>${step.status !== 'pending' && html`<span class="by"><time>${momentIn(zone)(step.at)}</time></span>`}</div>`,
    ),
  )
}

function evidence(facts: SignOffFacts): Html {
  if (facts.evidence.length === 0)
    return row('Evidence', '', html`<span class="bad">None was attached.</span>`)
  return row(
    'Evidence',
    count(facts.evidence.length, 'item'),
    html`<div class="ev">${facts.evidence.map(tile)}</div>`,
  )
}

/** What an agent attached is a fact that it was attached; what it holds is the agent's. */
function tile(item: SignOffFacts['evidence'][number]): Html {
  const by = html`${item.id}, attached by ${said(nameOf(item.by))}${item.origin && html`, from ${said(item.origin)}`}`
  if (item.kind === 'link') {
    return html`<figure><figcaption><b>${said(item.title)}</b>${link(item.url ?? '')}<br>${by}. Not opened by Done.</figcaption></figure>`
  }
  const whole = html`<a href="/files/${item.id}">${item.file_name ? said(item.file_name) : 'The whole text'}</a>`
  const text = item.text === null ? null : html`<pre dir="auto">${item.text}${item.cut && '\n⋯'}</pre>`
  return html`<figure>${text}<figcaption><b>${said(item.title)}</b>${whole}, ${size(item.size)}, ${by}<br><span class="mono">sha256 ${item.sha256.slice(0, 16)}</span></figcaption></figure>`
}

/** An outside address as it is, its true host before everything; only web addresses can be followed. */
function link(url: string): Html {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol))
    return html`<span class="mono">${said(url)}</span>`
  return html`<b class="mono">${parsed.host}</b><a class="mono" href="${parsed.href}" rel="noopener noreferrer nofollow">${said(url)}</a>`
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function runs(facts: SignOffFacts): Html {
  if (facts.runs.length === 0)
    return row('Runs', '', html`<span class="t2">None: no run was started on it.</span>`)
  return row(
    'Runs',
    count(facts.runs.length, 'run'),
    facts.runs.map((run) => {
      const lasted =
        run.ended_at === null ? '' : `, ${duration(Date.parse(run.ended_at) - Date.parse(run.started_at))}`
      return html`<div class="row">${glyph(run.state)}<span>${run.id} <span class="${run.state === 'failed' ? 'bad' : 't2'}">${run.state}${lasted}</span> <span class="t3">by ${said(nameOf(run.agent))}</span></span></div>`
    }),
  )
}

function doneBy({ done_by }: SignOffFacts): Html {
  const owner = done_by.owner
    ? html`<span class="t2">for</span>${mark(done_by.owner)}${said(nameOf(done_by.owner))}`
    : null
  return html`<div class="row">${mark(done_by.agent)}${said(nameOf(done_by.agent))}${owner}</div>`
}

function frees({ frees: freed }: SignOffFacts): Html {
  if (freed.length === 0)
    return row('Unblocks', '', html`<span class="t2">Nothing waits for it alone.</span>`)
  return row(
    'Unblocks',
    count(freed.length, 'task'),
    freed.map(
      (each) =>
        html`<div class="row">${glyph('blocked')}<span class="t3">${each.id}</span>${said(each.title)}</div>`,
    ),
  )
}

function words(word: SignOffFacts['words'][number], { now }: Clock): Html {
  const person = word.by.startsWith('U')
  const own = person ? '' : ', in its own words, not checked by Done'
  return html`<section class="say ${person ? 'person' : 'agent'}">${mark(word.by, 'm')}<div class="hd"><b>${said(nameOf(word.by))}</b> says<span class="t3">${own} · ${ago(word.at, now)}</span></div><blockquote dir="auto">${longText(word.text)}</blockquote></section>`
}

/** What can be decided now, and what deciding does. */
function bar(facts: SignOffFacts, { now }: Clock, byPasskey: boolean): Html | null {
  const { form, session, task } = facts
  if (!form || !session) return null
  if (!session.may_decide)
    return html`<div class="note"><p>You can read this. A member or the owner decides.</p></div>`
  const signedIn = `You signed in by ${beganWords(session.began)} ${ago(session.signed_in_at, now)}.`
  if (!session.fresh) {
    return html`<div class="note"><p><b>Approve and Reject are not here, because your sign-in is older than 15 minutes.</b> ${signedIn} Approving needs you, not just this browser: <a href="/sign-in/again">sign in again</a>, then come back to this page. Nothing is lost meanwhile.</p></div>`
  }
  const open = [
    ...facts.waits_for.map((each) => each.id),
    ...facts.subtasks.filter((each) => !each.closed).map((each) => each.id),
  ]
  const target = facts.asks === 'done' ? 'as done' : 'as cancelled'
  const freed = facts.frees.length > 0 ? `, frees ${listed(facts.frees.map((each) => each.id))}` : ''
  const approve =
    open.length > 0
      ? html`<p class="bad">${task.id} can’t close yet: ${listed(open)} ${open.length === 1 ? 'is' : 'are'} open.</p>`
      : approving(facts.id, form, byPasskey)
  return html`<div class="bar">${approve}
<details class="btnlike"><summary>Reject</summary><form method="post" action="/sign-off/${facts.id}/reject"><label for="note">What is missing, for ${said(nameOf(facts.asked_by))}</label><textarea id="note" name="note" rows="4" required maxlength="50000"></textarea><button>Send back</button></form></details>
<p class="why">Closes ${task.id} ${target}${freed}.<br>${signedIn} This form is good for 15 minutes.</p></div>`
}

/** Who has a passkey approves by it, which takes the page's script. */
function approving(id: string, form: NonNullable<SignOffFacts['form']>, byPasskey: boolean): Html {
  const action = `/sign-off/${id}/approve`
  const fields = html`<input type="hidden" name="version" value="${form.version}"><input type="hidden" name="hash" value="${form.hash}"><input type="hidden" name="nonce" value="${form.nonce}">`
  if (!byPasskey)
    return html`<form method="post" action="${action}">${fields}<button class="pri">Approve</button></form>`
  const button = html`${fields}<button class="pri">Approve with your passkey</button>`
  return html`${passkeyForm(action, `/sign-off/${id}/ask`, button)}<noscript><p class="why">You have a passkey, so you approve by it, and that takes script in this browser.</p></noscript>`
}

function listed(ids: readonly string[]): string {
  return ids.length < 2 ? ids.join('') : `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`
}

/** The page of {@link signOffRows}. */
export function signOffList(briefs: readonly Brief[], now: number): Html {
  if (briefs.length === 0) return html`<h1>Sign-offs</h1><p class="lead">Nothing waits for you.</p>`
  return html`<h1>Sign-offs</h1><p class="lead">${count(briefs.length, 'request')} ${briefs.length === 1 ? 'waits' : 'wait'} for a person.</p>${signOffRows(briefs, now)}`
}

/** What waits for a person, oldest first; nothing that is decided. */
export function signOffRows(briefs: readonly Brief[], now: number): Html {
  return html`<ul class="list">${briefs.map((each) => brief(each, now))}</ul>`
}

function brief(each: Brief, now: number): Html {
  const bad = (n: number, text: string) => (n > 0 ? html`, <span class="bad">${text}</span>` : null)
  const steps = each.steps > 0 ? html`${each.steps_finished} of ${count(each.steps, 'step')}` : html`no steps`
  return html`<li>${mark(each.asked_by, 'm')}<a class="ttl" href="/sign-off/${each.id}">${said(each.title)}</a><time class="small t3">${ago(each.asked_at, now)}</time><span class="f">${each.id}, ${each.task} to ${each.asks}: ${steps}${bad(each.steps_failed, `${each.steps_failed} failed`)}${bad(each.runs_failed, count(each.runs_failed, 'failed run'))}, ${each.evidence > 0 ? count(each.evidence, 'item of evidence', 'items of evidence') : html`<span class="bad">no evidence</span>`}${each.frees > 0 && `, frees ${each.frees}`}</span></li>`
}
