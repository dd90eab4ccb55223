import { type Html, html, said } from './html.ts'
import { longText } from './long-text.ts'
import { mark, momentIn, nameOf } from './page.ts'

/** An open question as the operation lists it. */
export interface OpenQuestion {
  id: string
  text: string
  asked_by: string
  asked_at: string
  task?: string
  task_title?: string
  choices?: string[]
}

/** A question that was answered, as `get_question` tells it. */
export interface AnsweredQuestion {
  id: string
  text: string
  by: string
  task?: string
  title?: string
  answer: string
  answered_by: string
  answered: string
}

/** One question, with its choices as buttons and room for words of one's own. */
export function questionPage(question: OpenQuestion): Html {
  const action = `/questions/${question.id}/answer`
  const choices = (question.choices ?? []).map(
    (choice) =>
      html`<form method="post" action="${action}"><input type="hidden" name="answer" value="${choice}"><button>${choice}</button></form>`,
  )
  return html`${crumb(question.id, question.task, question.task_title)}
<h1>${said(nameOf(question.asked_by))} asks</h1>
${asked(question.asked_by, question.text)}
${choices.length > 0 && html`<div class="bar">${choices}</div>`}
<form method="post" action="${action}"><label for="answer">Your answer</label><textarea id="answer" name="answer" rows="4" required maxlength="50000"></textarea><button class="pri">Answer</button></form>`
}

/** What was asked and answered: an answer stands, so there is no form any more. */
export function answeredPage(question: AnsweredQuestion, zone: string): Html {
  const { id, by, text, answer, answered_by, answered } = question
  return html`${crumb(id, question.task, question.title)}
<h1>${said(nameOf(by))} asked</h1>
${asked(by, text)}
<section class="say person">${mark(answered_by, 'm')}<div class="hd"><b>${said(nameOf(answered_by))}</b> answered<span class="t3"> · ${momentIn(zone)(answered)}</span></div><blockquote dir="auto">${longText(answer)}</blockquote></section>`
}

function crumb(id: string, task: string | undefined, title: string | undefined): Html {
  return html`<div class="crumb">${task && html`<b>${task}</b>${said(title ?? '')}`}<span>${id}</span></div>`
}

function asked(by: string, text: string): Html {
  return html`<section class="say agent">${mark(by, 'm')}<div class="hd"><b>${said(nameOf(by))}</b><span class="t3">, in its own words, not checked by Done</span></div><blockquote dir="auto">${longText(text)}</blockquote></section>`
}
