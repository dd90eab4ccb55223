import type { Brief } from '../people/facts.ts'
import { type Html, html, said } from './html.ts'
import { count, mark, nameOf } from './page.ts'
import type { OpenQuestion } from './pages.ts'
import { howToSignIn, signOffList } from './sign-off-page.ts'

/** What waits for a person. */
export interface Waiting {
  signOffs: readonly Brief[]
  questions: readonly OpenQuestion[]
}

/** The first page: what Done is, what waits, and where everything stands. */
export function homePage(site: string, now: number, waiting: Waiting | undefined): Html {
  return html`${waiting ? inbox(waiting, now) : welcome()}
<h2>For agents and programs</h2>
<ul class="list"><li><span></span><span class="ttl">MCP</span><code>${site}/mcp</code><span class="f">Streamable HTTP, with an agent’s token. <code>donectl mcp</code> is the same over stdio.</span></li>
<li><span></span><a class="ttl" href="/api/docs">Tools and addresses</a><code>/api</code><span class="f">What each tool does, its arguments and an example. As data: <a href="/api/openapi.json">openapi.json</a>.</span></li></ul>`
}

function welcome(): Html {
  return html`<h1>Done</h1><p class="lead">One task list that people and AI agents share. What Done says a tool does is what the tool does, and what matters closes only when a person signs off.</p><div class="note"><p><b>You are not signed in.</b></p>${howToSignIn()}</div>`
}

function inbox({ signOffs, questions }: Waiting, now: number): Html {
  const total = signOffs.length + questions.length
  return html`<h1>${total === 0 ? 'Nothing waits for you.' : `${total} ${total === 1 ? 'waits' : 'wait'} for you`}</h1>
<div class="counts"><span><b>${signOffs.length}</b> ${signOffs.length === 1 ? 'sign-off' : 'sign-offs'}</span><span><b>${questions.length}</b> ${questions.length === 1 ? 'question' : 'questions'}</span></div>
${signOffs.length > 0 && html`<section>${signOffList(signOffs, now)}</section>`}
${questions.length > 0 && html`<h2>Questions</h2><ul class="list">${questions.map(questionLine)}</ul>`}`
}

function questionLine(question: OpenQuestion): Html {
  const about = question.task ? html`${question.task} ${said(question.task_title ?? '')}` : 'no task'
  const choices = question.choices ? `, ${count(question.choices.length, 'choice')}` : ''
  return html`<li>${mark(question.asked_by, 'm')}<a class="ttl" href="/questions/${question.id}">${said(question.text.slice(0, 200))}</a><span class="small t3">${question.id}</span><span class="f">${said(nameOf(question.asked_by))} asks on ${about}${choices}</span></li>`
}

/** One question, with its choices as buttons and room for words of one's own. */
export function questionPage(question: OpenQuestion): Html {
  const action = `/questions/${question.id}/answer`
  const choices = (question.choices ?? []).map(
    (choice) =>
      html`<form method="post" action="${action}"><input type="hidden" name="answer" value="${choice}"><button>${choice}</button></form>`,
  )
  return html`<div class="crumb">${question.task && html`<b>${question.task}</b>${said(question.task_title ?? '')}`}<span>${question.id}</span></div>
<h1>${said(nameOf(question.asked_by))} asks</h1>
<section class="say agent">${mark(question.asked_by, 'm')}<div class="hd"><b>${said(nameOf(question.asked_by))}</b><span class="unv">its own words, not checked by Done</span></div><blockquote dir="auto">${said(question.text)}</blockquote></section>
${choices.length > 0 && html`<div class="bar">${choices}</div>`}
<form method="post" action="${action}"><label for="answer">Your answer</label><textarea id="answer" name="answer" rows="4" required maxlength="50000"></textarea><button class="pri">Answer</button></form>`
}
