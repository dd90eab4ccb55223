import type { PersonActor } from '../model/actor.ts'
import type { Brief } from '../people/facts.ts'
import type { Deletion } from '../people/trash.ts'
import { type Html, html, said } from './html.ts'
import { ago, count, mark, nameOf } from './page.ts'
import type { OpenQuestion } from './question-page.ts'
import { bringBack, signOffRows } from './sign-off-page.ts'
import { howToSignIn } from './words.ts'

/** What a person should look at. */
export interface Waiting {
  person: PersonActor
  signOffs: readonly Brief[]
  questions: readonly OpenQuestion[]
  /** What agents deleted lately. */
  deletions: readonly Deletion[]
}

/** The first page: what Done is, what waits, and where everything stands. */
export function homePage(site: string, now: number, waiting: Waiting | undefined): Html {
  return html`${waiting ? inbox(waiting, now) : welcome()}
<h2>For agents and programs</h2>
<ul class="list plain"><li><span class="ttl">MCP</span><code>${site}/mcp</code><span class="f">Streamable HTTP, with an agent’s token. <code>node dist/donectl.js mcp</code> is the same over stdio.</span></li>
<li><a class="ttl" href="/api/docs">Tools and addresses</a><code>/api</code><span class="f">What each tool does, its arguments and an example. As data: <a href="/api/openapi.json">openapi.json</a>.</span></li></ul>`
}

function welcome(): Html {
  return html`<h1>Done</h1><p class="lead">One task list that people and AI agents share. What Done says a tool does is what the tool does, and what matters closes only when a person signs off.</p><div class="note"><p><b>You are not signed in.</b></p>${howToSignIn()}</div>`
}

function inbox({ person, signOffs, questions, deletions }: Waiting, now: number): Html {
  const total = signOffs.length + questions.length
  const nothing =
    deletions.length === 0 ? 'Nothing waits for you.' : 'No decision waits, but agents deleted something.'
  const figure = (n: number, one: string) => html`<span><b>${n}</b> ${n === 1 ? one : `${one}s`}</span>`
  return html`<h1>${total === 0 ? nothing : `${total} ${total === 1 ? 'waits' : 'wait'} for you`}</h1>
<div class="counts">${figure(signOffs.length, 'sign-off')}${figure(questions.length, 'question')}${deletions.length > 0 && figure(deletions.length, 'deletion')}</div>
${signOffs.length > 0 && html`<h2>Sign-offs</h2>${signOffRows(signOffs, now)}`}
${questions.length > 0 && html`<h2>Questions</h2><ul class="list">${questions.map(questionLine)}</ul>`}
${deletions.length > 0 && html`<h2>Deleted by agents in the last 7 days</h2><ul class="list">${deletions.map((each) => deletionLine(each, person, now))}</ul>`}`
}

function questionLine(question: OpenQuestion): Html {
  const about = question.task ? html`${question.task} ${said(question.task_title ?? '')}` : 'no task'
  const choices = question.choices ? `, ${count(question.choices.length, 'choice')}` : ''
  return html`<li>${mark(question.asked_by, 'm')}<a class="ttl" href="/questions/${question.id}">${said(question.text.slice(0, 200))}</a><span class="small t3">${question.id}</span><span class="f">${said(nameOf(question.asked_by))} asks on ${about}${choices}</span></li>`
}

/** Bad news stands in the line itself: a request that waited for a person went with it. */
function deletionLine(entry: Deletion, person: PersonActor, now: number): Html {
  const others = entry.kind === 'project' ? entry.tasks : entry.tasks - 1
  const more = entry.kind === 'project' ? 'task' : 'subtask'
  const took = others > 0 ? `, with ${count(others, more)}` : ''
  const links = entry.requests.map((id, i) => html`${i > 0 && ', '}<a href="/sign-off/${id}">${id}</a>`)
  const waited =
    entry.requests.length > 0 ? html`, <span class="bad">while a sign-off was asked: ${links}</span>` : null
  return html`<li>${mark(entry.by, 'm')}<span class="ttl">${said(entry.title)}</span><time class="small t3">${ago(entry.at, now)}</time><span class="f">${said(nameOf(entry.by))} deleted ${entry.kind} ${entry.object}${took}${waited}</span>${bringBack(`/trash/${entry.id}/bring-back`, person)}</li>`
}
