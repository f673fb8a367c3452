import { newWallet, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

/** A team workspace. Every member's `api` works in it. */
export type Team = { id: string; owner: Person }
export type Teammate = Person & { memberId: string }

export const createTeam = async (service: TestService, name = 'Team'): Promise<Team> => {
  const owner = await signIn(service.api)
  const answer = await owner.api.post('/v1/workspaces', { name })
  if (answer.status !== 201) throw new Error(`no workspace: ${answer.text}`)
  const { id } = answer.body.workspace
  await standIn(owner, id)
  return { id, owner }
}

export const standIn = async (person: Person, workspaceId: string): Promise<void> => {
  const answer = await person.api.put('/v1/workspaces/current', { workspace_id: workspaceId })
  if (answer.status !== 200) throw new Error(`no switch: ${answer.text}`)
}

export const invite = async (inviter: Person, body: Record<string, unknown>): Promise<string> => {
  const answer = await inviter.api.post('/v1/workspaces/current/invitations', body)
  if (answer.status !== 201) throw new Error(`no invitation: ${answer.text}`)
  return answer.body.token
}

/** A new person who joined by an open invitation and works in the workspace. */
export const join = async (service: TestService, team: Team, role: string, wallet = newWallet()): Promise<Teammate> => {
  const person = await signIn(service.api, wallet)
  const answer = await person.api.post('/v1/workspaces/invitations/accept', { token: await invite(team.owner, { role }) })
  if (answer.status !== 200) throw new Error(`not joined: ${answer.text}`)
  await standIn(person, team.id)
  return { ...person, memberId: await memberIdOf(team.owner, person.accountId) }
}

export const memberIdOf = async (reader: Person, accountId: string): Promise<string> => {
  const { body } = await reader.api.get('/v1/workspaces/current/members?limit=100')
  return body.data.find((member: { account_id: string }) => member.account_id === accountId).id
}
