import type { PersonActor, Role } from '../model/actor.ts'
import { field, passwordField } from './field.ts'
import { type Html, html, said } from './html.ts'
import { mark, momentIn } from './page.ts'
import { codesSection } from './second-factor-page.ts'
import { beganWords } from './words.ts'

/** A session as `list_sessions` tells it. */
export interface Session {
  id: string
  person: string
  began: PersonActor['session']['began']
  signed_in_at: string
  expires_at: string
  this?: boolean
}

/** One's own sign-in: name and password, and where one is signed in. */
export function accountPage(about: {
  who: PersonActor
  login: string | undefined
  sessions: readonly Session[]
  codes: { on: boolean; left: number }
  passkeys: Html
  hosts: Html
  wrong?: string
  saved?: boolean
}): Html {
  const { who, login, sessions, codes, passkeys, hosts, wrong, saved } = about
  const at = momentIn(who.zone)
  const line = (each: Session) =>
    html`<li><span class="ttl">${each.this ? 'This browser' : 'Another browser'}</span>${each.this ? html`<span class="chip">now</span>` : html`<form method="post" action="/account/sessions/${each.id}/end"><button>End</button></form>`}<span class="f">Signed in by ${beganWords(each.began)}, ${at(each.signed_in_at)}; until ${at(each.expires_at)}</span></li>`
  return html`<h1>${said(who.name)}</h1><p class="lead">${who.id}, ${who.role} of this account.</p>
<h2>${login === undefined ? 'Choose a password' : 'Change your password'}</h2>
${saved && html`<div class="note ok"><p>From now on you sign in with this. Your other sessions have ended.</p></div>`}${wrong !== undefined && html`<div class="note stop"><p>${wrong}</p></div>`}
<form method="post" action="/account/password">${field('login', 'Name to sign in with, such as your address of mail', 'username', login ?? '')}${passwordField('new-password')}<div class="bar"><button class="pri">Save</button><p class="why">Needs a sign-in within the last 15 minutes. Ends your other sessions.</p></div></form>
${login !== undefined && codesSection(codes)}
${passkeys}
${hosts}
<h2>Where you are signed in</h2><ul class="list plain">${sessions.map(line)}</ul>`
}

/** Somebody of the account as `list_members` tells it. */
export interface Member {
  id: string
  kind: 'person' | 'agent'
  name: string
  role?: Role
  owner?: string
}

/** An invitation as `list_invitations` tells it. */
export interface Invitation {
  id: string
  name: string
  role: Role
  until: string
}

const ROLES: readonly Role[] = ['viewer', 'member', 'owner']

/** Who is in the account; for an owner with what changes it. */
export function membersPage(about: {
  who: PersonActor
  members: readonly Member[]
  invitations: readonly Invitation[]
}): Html {
  const { who, members, invitations } = about
  const isOwner = who.role === 'owner'
  const at = momentIn(who.zone)
  const roles = (chosen: Role) =>
    ROLES.map((role) => html`<option ${role === chosen ? 'selected' : ''}>${role}</option>`)
  const change = ({ id, role }: Member) =>
    html`<form method="post" action="/members/${id}/role"><select name="role" aria-label="Role of ${id}">${roles(role!)}</select> <button>Change role</button></form><form method="post" action="/members/${id}/remove"><button>Remove</button></form>`
  const person = (each: Member) =>
    html`<li>${mark(`${each.id} ${each.name}`, 'm')}<span class="ttl">${said(each.name)}</span><span class="small t3">${each.id} · ${each.role}</span>${isOwner && each.id !== who.id && change(each)}</li>`
  const agent = (each: Member) =>
    html`<li>${mark(`${each.id} ${each.name}`, 'm')}<span class="ttl">${said(each.name)}</span><span class="small t3">${each.id}</span><span class="f">Agent of ${said(each.owner ?? '')}</span></li>`
  return html`<h1>Members</h1><ul class="list">${members.filter(({ kind }) => kind === 'person').map(person)}</ul>
${isOwner && inviting(invitations, at, roles)}<h2>Agents</h2><ul class="list">${members.filter(({ kind }) => kind === 'agent').map(agent)}</ul>`
}

function inviting(
  invitations: readonly Invitation[],
  at: (moment: string) => string,
  roles: (chosen: Role) => Html[],
): Html {
  const open = (each: Invitation) =>
    html`<li><span class="ttl">${said(each.name)}</span><form method="post" action="/invitations/${each.id}/revoke"><button>Take back</button></form><span class="f">${each.id}, as ${each.role}, until ${at(each.until)}</span></li>`
  return html`<h2>Invite somebody</h2><form method="post" action="/members/invite">${field('name', 'Their name', 'off')}<label for="role">Role</label><select id="role" name="role">${roles('member')}</select><div class="bar"><button class="pri">Make a link</button><p class="why">The link works once, for 7 days. Needs a sign-in within the last 15 minutes.</p></div></form>
${invitations.length > 0 && html`<h3>Invited</h3><ul class="list plain">${invitations.map(open)}</ul>`}`
}
