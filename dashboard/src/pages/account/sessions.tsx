import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { everyPage } from '../../api/every-page.ts'
import { parametersOf } from '../../api/parameters.ts'
import { sessionsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { deviceName } from '../../lib/device-name.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Current, Item, Listing } from '../../ui/listing.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { useBegan } from './began-here.tsx'
import { EndSessions } from './end-sessions.tsx'

const SessionRow = ({ session, onEnd }: { session: Schemas['Session']; onEnd: () => void }) => {
  const signOut = useSignOut()
  return (
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
            <>
              last used <Time at={session.last_used_at} />
            </>
          ) : (
            statusText(session.status).toLowerCase()
          )}
          , signed in <Time at={session.created_at} />
        </>
      }
    >
      {session.status === 'active' && (
        <Button
          size="small"
          variant="danger"
          busy={signOut.isPending}
          onClick={() => (session.current ? signOut.mutate() : onEnd())}
        >
          {session.current ? 'Sign out' : 'End session'}
        </Button>
      )}
    </Item>
  )
}

export const Sessions = () => {
  const [ending, setEnding] = useState<Schemas['Session'] | null>(null)
  const began = useBegan()
  return (
    <Card title="Sessions" note="Browsers you are signed in with." actions={<SignOutElsewhere />} flush>
      <Listing query={useInfiniteQuery(sessionsQuery)} rows={2} empty={<Empty icon="screen" title="No sessions" />}>
        {(sessions) => (
          <Current items={sessions} none="No session is active">
            {(session) => <SessionRow session={session} onEnd={() => setEnding(session)} />}
          </Current>
        )}
      </Listing>
      {ending && (
        <EndSessions
          title="End this session?"
          action="End session"
          find={async () => [ending.id]}
          onEnded={began.show}
          onClose={() => setEnding(null)}
        >
          <p>
            {deviceName(ending.user_agent)}, signed in <Time at={ending.created_at} />, has to sign in again.
          </p>
        </EndSessions>
      )}
      {began.dialog}
    </Card>
  )
}

/** Every active session but this one, however many there are. */
const findOthers = async (): Promise<string[]> => {
  const sessions = await everyPage((cursor) =>
    call(api.GET('/v1/accounts/me/sessions', { params: { query: parametersOf({ limit: 100, cursor }) } })),
  )
  return sessions.flatMap(({ id, current, status }) => (current || status !== 'active' ? [] : id))
}

const SignOutElsewhere = () => {
  const [asking, setAsking] = useState(false)
  const began = useBegan()
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        Sign out everywhere else
      </Button>
      {asking && (
        <EndSessions
          title="Sign out everywhere else?"
          action="Sign out everywhere else"
          find={findOthers}
          onEnded={began.show}
          onClose={() => setAsking(false)}
        >
          <p>Every other browser you are signed in with has to sign in again. API keys and agents keep working.</p>
        </EndSessions>
      )}
      {began.dialog}
    </>
  )
}
