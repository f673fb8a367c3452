import { type ReactNode, useRef, useState } from 'react'
import { deviceName } from '../../../../src/lib/device-name.ts'
import { api, everyPage, parametersOf, type Schemas, sessionsQuery } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { statusText } from '../../lib/words.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm, DialogButton } from '../../ui/form.tsx'
import { Current, Item, Listing } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Time } from '../../ui/page.tsx'
import { type BeganHere, CompromiseField, endQuery, outdatedByEnd, useStartedDialog } from './began-here.tsx'
import { richAccount, tAccount } from './texts.ts'

type Session = Schemas['Session']
type Began = ReturnType<typeof useStartedDialog>

const EndButton = ({ session, onEnded }: { session: Session; onEnded: Began['show'] }) => {
  const signOut = useSignOut()
  if (session.current)
    return (
      <Button size="small" variant="danger" busy={signOut.isPending} onClick={() => signOut.mutate()}>
        {t('sign_out')}
      </Button>
    )
  return (
    <DialogButton
      size="small"
      variant="danger"
      dialog={(close) => (
        <EndSessions
          title={tAccount('session.end_title')}
          action={tAccount('session.end')}
          find={async () => [session.id]}
          onEnded={onEnded}
          onClose={close}
        >
          <p>{richAccount('session.note', { device: deviceName(session.user_agent), at: <Time at={session.created_at} /> })}</p>
        </EndSessions>
      )}
    >
      {tAccount('session.end')}
    </DialogButton>
  )
}

const SessionRow = ({ session, onEnded }: { session: Session; onEnded: Began['show'] }) => (
  <Item
    icon="screen"
    title={
      <>
        {deviceName(session.user_agent)}
        {session.current && <Badge tone="good">{tAccount('this_browser')}</Badge>}
      </>
    }
    note={
      <>
        {session.ip && <>{session.ip}, </>}
        {session.status === 'active' ? (
          <Time at={session.last_used_at} before={tAccount('session.used')} />
        ) : (
          statusText(session.status).toLowerCase()
        )}
        <Time at={session.created_at} before={tAccount('session.from')} />
        {session.status === 'active' && <Time at={session.expires_at} before={tAccount('session.until')} />}
      </>
    }
  >
    {session.status === 'active' && <EndButton session={session} onEnded={onEnded} />}
  </Item>
)

export const Sessions = () => {
  const began = useStartedDialog()
  return (
    <Card title={tAccount('sessions')} note={tAccount('sessions.note')} actions={<SignOutElsewhere onEnded={began.show} />} flush>
      <Listing query={sessionsQuery} rows={2} empty={<Empty icon="screen" title={tAccount('sessions.none')} />}>
        {(sessions) => (
          <Current items={sessions} none={tAccount('sessions.none_active')}>
            {(session) => <SessionRow session={session} onEnded={began.show} />}
          </Current>
        )}
      </Listing>
      {began.dialog}
    </Card>
  )
}

/** Ids of all active sessions except this one. */
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
        title={tAccount('elsewhere.title')}
        action={tAccount('elsewhere')}
        find={findOthers}
        onEnded={onEnded}
        onClose={close}
      >
        <p>{tAccount('elsewhere.note')}</p>
      </EndSessions>
    )}
  >
    {tAccount('elsewhere')}
  </DialogButton>
)

type BeganLists = Record<string, readonly { id: string }[]>

/** Merges the lists of everything that began in two sessions, without duplicates. */
const merged = (one: BeganLists, other: BeganLists): BeganLists =>
  Object.fromEntries(
    Object.entries(one).map(([kind, rows]) => [
      kind,
      [...new Map([...rows, ...(other[kind] ?? [])].map((row) => [row.id, row])).values()],
    ]),
  )

type EndedSessions = { ids: readonly string[]; began: BeganHere }

const noneEnded: EndedSessions = { ids: [], began: null }

/** Ends one more session. A session can be ended again, with everything begun in it. */
const endOne = async ({ ids, began }: EndedSessions, id: string, everything: boolean): Promise<EndedSessions> => {
  const { began_here: here } = await api.DELETE('/v1/accounts/me/sessions/{id}', { path: { id }, query: endQuery(everything) })
  return { ids: [...ids, id], began: began && here ? (merged(began, here) as typeof here) : (began ?? here) }
}

const endAgain = async (ids: readonly string[]): Promise<BeganHere> => {
  let ended = noneEnded
  for (const id of ids) ended = await endOne(ended, id, true)
  return ended.began
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
  // Survives a failure: only this dialog learns what began in the sessions that it ended.
  const ended = useRef(noneEnded)
  return (
    <Confirm
      title={title}
      action={stolen ? tAccount('end_all') : action}
      change={async () => {
        for (const id of await find()) ended.current = await endOne(ended.current, id, stolen)
        return ended.current
      }}
      announcement={({ ids }) =>
        ids.length === 0 ? tAccount('elsewhere.none') : tAccount('sessions_ended', { count: ids.length })
      }
      invalidates={outdatedByEnd}
      onChanged={({ ids, began }) => onEnded({ began, everything: stolen, endAll: () => endAgain(ids) })}
      onClose={onClose}
    >
      {children}
      <CompromiseField stolen={stolen} onChange={setStolen} />
    </Confirm>
  )
}
