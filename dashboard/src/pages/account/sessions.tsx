import { type ReactNode, useState } from 'react'
import { deviceName } from '../../../../src/lib/device-name.ts'
import { api, everyPage, parametersOf, type Schemas, sessionsQuery } from '../../api/queries.ts'
import { countWords, statusText } from '../../lib/words.ts'
import { useSignOut } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, DialogButton } from '../../ui/form.tsx'
import { Current, Item, Listing } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Time } from '../../ui/page.tsx'
import { type BeganHere, endQuery, outdatedByEnd, useBegan, WasItStolen } from './began-here.tsx'

type Session = Schemas['Session']
type Began = ReturnType<typeof useBegan>

const EndButton = ({ session, onEnded }: { session: Session; onEnded: Began['show'] }) => {
  const signOut = useSignOut()
  if (session.current)
    return (
      <Button size="small" variant="danger" busy={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    )
  return (
    <DialogButton
      size="small"
      variant="danger"
      dialog={(close) => (
        <EndSessions
          title="End this session?"
          action="End session"
          find={async () => [session.id]}
          onEnded={onEnded}
          onClose={close}
        >
          <p>
            {deviceName(session.user_agent)}, signed in <Time at={session.created_at} />, has to sign in again.
          </p>
        </EndSessions>
      )}
    >
      End session
    </DialogButton>
  )
}

const SessionRow = ({ session, onEnded }: { session: Session; onEnded: Began['show'] }) => (
  <Item
    icon="screen"
    title={
      <>
        {deviceName(session.user_agent)}
        {session.current && <Badge tone="good">This browser</Badge>}
      </>
    }
    note={
      <>
        {session.ip && <>{session.ip}, </>}
        {session.status === 'active' ? (
          <Time at={session.last_used_at} before="last used " />
        ) : (
          statusText(session.status).toLowerCase()
        )}
        <Time at={session.created_at} before=", signed in " />
        {session.status === 'active' && <Time at={session.expires_at} before=", expires " />}
      </>
    }
  >
    {session.status === 'active' && <EndButton session={session} onEnded={onEnded} />}
  </Item>
)

export const Sessions = () => {
  const began = useBegan()
  return (
    <Card title="Sessions" note="Browsers you are signed in with." actions={<SignOutElsewhere onEnded={began.show} />} flush>
      <Listing query={sessionsQuery} rows={2} empty={<Empty icon="screen" title="No sessions" />}>
        {(sessions) => (
          <Current items={sessions} none="No session is active">
            {(session) => <SessionRow session={session} onEnded={began.show} />}
          </Current>
        )}
      </Listing>
      {began.dialog}
    </Card>
  )
}

/** Every active session but this one, however many there are. */
const findOthers = async (): Promise<string[]> => {
  const sessions = await everyPage((cursor) =>
    api.GET('/v1/accounts/me/sessions', { query: parametersOf({ limit: 100, cursor }) }),
  )
  return sessions.flatMap(({ id, current, status }) => (current || status !== 'active' ? [] : id))
}

const SignOutElsewhere = ({ onEnded }: { onEnded: Began['show'] }) => (
  <DialogButton
    size="small"
    dialog={(close) => (
      <EndSessions
        title="Sign out everywhere else?"
        action="Sign out everywhere else"
        find={findOthers}
        onEnded={onEnded}
        onClose={close}
      >
        <p>Every other browser you are signed in with has to sign in again. API keys and agents keep working.</p>
      </EndSessions>
    )}
  >
    Sign out everywhere else
  </DialogButton>
)

/** What began in any of two places, each thing once. */
const merged = (one: Schemas['BeganHere'], other: Schemas['BeganHere']): Schemas['BeganHere'] => {
  const both = <Row extends { id: string }>(of: (began: Schemas['BeganHere']) => readonly Row[]): Row[] => [
    ...new Map([...of(one), ...of(other)].map((row) => [row.id, row])).values(),
  ]
  return {
    identities: both(({ identities }) => identities),
    passkeys: both(({ passkeys }) => passkeys),
    api_keys: both(({ api_keys }) => api_keys),
    grants: both(({ grants }) => grants),
    invitations: both(({ invitations }) => invitations),
    members: both(({ members }) => members),
    roles: both(({ roles }) => roles),
    workspaces: both(({ workspaces }) => workspaces),
    widened: both(({ widened }) => widened),
    loosened: both(({ loosened }) => loosened),
  }
}

/** What began in any of them is one list. Sessions that have ended can be ended again, with everything that began there. */
const endEach = async (ids: readonly string[], everything: boolean): Promise<BeganHere> => {
  let began: BeganHere = null
  for (const id of ids) {
    const { began_here: here } = await api.DELETE('/v1/accounts/me/sessions/{id}', { path: { id }, query: endQuery(everything) })
    began = began && here ? merged(began, here) : (began ?? here)
  }
  return began
}

type Props = {
  title: string
  action: string
  find: () => Promise<string[]>
  onEnded: Began['show']
  onClose: () => void
  children: ReactNode
}

const EndSessions = ({ title, action, find, onEnded, onClose, children }: Props) => {
  const [stolen, setStolen] = useState(false)
  return (
    <Confirm
      title={title}
      action={stolen ? 'End all of it' : action}
      change={async () => {
        const ids = await find()
        return { ids, began: await endEach(ids, stolen) }
      }}
      announcement={({ ids }) =>
        ids.length === 0 ? 'You aren’t signed in anywhere else' : `${countWords(ids.length, 'session')} ended`
      }
      outdates={outdatedByEnd}
      onChanged={({ ids, began }) => onEnded({ began, everything: stolen, endAll: () => endEach(ids, true) })}
      onClose={onClose}
    >
      {children}
      <WasItStolen stolen={stolen} onChange={setStolen} />
    </Confirm>
  )
}
