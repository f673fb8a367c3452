import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { everyPage } from '../../api/every-page.ts'
import { parametersOf } from '../../api/parameters.ts'
import { Button } from '../../ui/button.tsx'
import { useBegan } from './began-here.tsx'
import { EndSessions } from './end-sessions.tsx'

/** Every active session but this one, however many there are. */
const findOthers = async (): Promise<string[]> => {
  const sessions = await everyPage((cursor) =>
    call(api.GET('/v1/accounts/me/sessions', { params: { query: parametersOf({ limit: 100, cursor }) } })),
  )
  return sessions.flatMap(({ id, current, status }) => (current || status !== 'active' ? [] : id))
}

export const SignOutElsewhere = () => {
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
