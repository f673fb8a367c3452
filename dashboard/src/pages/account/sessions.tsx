import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { adviceFor, messageOf } from '../../api/advice.ts'
import { api, call } from '../../api/client.ts'
import { sessionsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { deviceName } from '../../lib/device-name.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { SignOutElsewhere } from './sign-out-elsewhere.tsx'

const SessionRow = ({ session }: { session: Schemas['Session'] }) => {
  const client = useQueryClient()
  const signOut = useSignOut()
  const revoke = useMutation({
    mutationFn: () => call(api.DELETE('/v1/accounts/me/sessions/{id}', { params: { path: { id: session.id } } })),
    onSuccess: () => {
      announce('Session ended')
      void client.invalidateQueries({ queryKey: ['sessions'] })
    },
    onError: (error) => announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad'),
  })
  return (
    <div className="item">
      <span className="avatar">
        <Icon name="screen" />
      </span>
      <div className="item-main">
        <p className="item-title">
          {deviceName(session.user_agent)}
          {session.current && <Badge tone="good">This browser</Badge>}
        </p>
        <p className="item-note">
          {session.ip && <>{session.ip}, </>}
          {session.status === 'active' ? (
            <>
              last used <Time at={session.last_used_at} />
            </>
          ) : (
            statusText(session.status).toLowerCase()
          )}
          , signed in <Time at={session.created_at} />
        </p>
      </div>
      {session.status === 'active' && (
        <Button
          size="small"
          variant="danger"
          busy={revoke.isPending}
          onClick={() => (session.current ? signOut.mutate() : revoke.mutate())}
        >
          {session.current ? 'Sign out' : 'End session'}
        </Button>
      )}
    </div>
  )
}

export const Sessions = () => (
  <Card title="Sessions" note="Browsers you are signed in with." actions={<SignOutElsewhere />} flush>
    <Listing query={useInfiniteQuery(sessionsQuery)} rows={2} empty={<Empty icon="screen" title="No sessions" />}>
      {(sessions) => <Rows items={sessions}>{(session) => <SessionRow session={session} />}</Rows>}
    </Listing>
  </Card>
)
