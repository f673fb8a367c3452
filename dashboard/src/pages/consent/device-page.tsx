import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { deviceQuery } from '../../api/queries.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { Submit } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Failure, TextNotice } from '../../ui/page.tsx'
import { Consent } from './consent.tsx'

const outcomes: Readonly<Record<string, { title: string; text: string }>> = {
  approved: { title: 'Connected', text: 'Go back to your device. It continues by itself.' },
  denied: { title: 'Denied', text: 'The device gets no access. You can close this page.' },
}

/** For agents without a browser: enter the code that the device shows, then decide as on the consent page. */
export const DevicePage = () => {
  const [params, setParams] = useSearchParams()
  const code = params.get('user_code') ?? ''
  const [typed, setTyped] = useState(code)
  const authorization = useQuery({ ...deviceQuery(code), enabled: code !== '' })
  const outcome = outcomes[params.get('outcome') ?? '']
  if (outcome)
    return (
      <SinglePage title="Connect a device">
        <div className="stack">
          <h1>{outcome.title}</h1>
          <p className="quiet">{outcome.text}</p>
        </div>
      </SinglePage>
    )
  if (authorization.data)
    return (
      <SinglePage title="Connect a device" wide>
        <Consent authorization={authorization.data} />
      </SinglePage>
    )
  return (
    <SinglePage title="Connect a device">
      <Form className="stack" ready={typed.trim() !== ''} onSubmit={() => setParams({ user_code: typed.trim().toUpperCase() })}>
        <div className="stack-xs">
          <h1>Connect a device</h1>
          <p className="quiet">Enter the code that the device or program shows you.</p>
        </div>
        <TextField label="Code" value={typed} onChange={setTyped} placeholder="BCDF-GHJK" mono maxLength={16} autoFocus />
        {hasCode(authorization.error, 'not_found') ? (
          <TextNotice tone="bad" title="This code is wrong, has expired or was already used." live>
            Enter the code that the device shows now.
          </TextNotice>
        ) : (
          <Failure error={authorization.error} />
        )}
        <Submit size="large" wide busy={authorization.isFetching} disabled={typed.trim() === ''}>
          Continue
        </Submit>
      </Form>
    </SinglePage>
  )
}
