import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { parametersOf } from '../../api/parameters.ts'
import { countWords } from '../../lib/list-words.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'

/** Ends every active session but this one, however many there are. */
const endOthers = async (): Promise<number> => {
  let ended = 0
  let cursor: string | undefined
  do {
    const page = await call(api.GET('/v1/accounts/me/sessions', { params: { query: parametersOf({ limit: 100, cursor }) } }))
    for (const { id, current, status } of page.data) {
      if (current || status !== 'active') continue
      await call(api.DELETE('/v1/accounts/me/sessions/{id}', { params: { path: { id } } }))
      ended += 1
    }
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return ended
}

export const SignOutElsewhere = () => {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        Sign out everywhere else
      </Button>
      {asking && (
        <Confirm
          title="Sign out everywhere else?"
          action="Sign out everywhere else"
          change={endOthers}
          announcement={(count) => (count === 0 ? 'You aren’t signed in anywhere else' : `${countWords(count, 'session')} ended`)}
          outdates={['sessions']}
          onClose={() => setAsking(false)}
        >
          <p>Every other browser you are signed in with has to sign in again. API keys and agents keep working.</p>
        </Confirm>
      )}
    </>
  )
}
