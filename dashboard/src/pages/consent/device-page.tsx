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
import { tConsent } from './texts.ts'

const outcomes: Readonly<Record<string, { title: string; text: string }>> = {
  approved: { title: tConsent('device.connected'), text: tConsent('device.connected_note') },
  denied: { title: tConsent('device.denied'), text: tConsent('device.denied_note') },
}

/** For agents without a browser: the person enters the code from the device, then decides as on the consent page. */
export const DevicePage = () => {
  const [params, setParams] = useSearchParams()
  const code = params.get('user_code') ?? ''
  const [typed, setTyped] = useState(code)
  const authorization = useQuery({ ...deviceQuery(code), enabled: code !== '' })
  const submit = () => {
    const next = typed.trim().toUpperCase()
    if (next === code) void authorization.refetch()
    else setParams({ user_code: next })
  }
  const outcome = outcomes[params.get('outcome') ?? '']
  if (outcome)
    return (
      <SinglePage title={tConsent('device')}>
        <div className="stack">
          <h1>{outcome.title}</h1>
          <p className="muted">{outcome.text}</p>
        </div>
      </SinglePage>
    )
  if (authorization.data)
    return (
      <SinglePage title={tConsent('device')} wide>
        <Consent authorization={authorization.data} />
      </SinglePage>
    )
  return (
    <SinglePage title={tConsent('device')}>
      <Form className="stack" ready={typed.trim() !== ''} onSubmit={submit}>
        <div className="stack-xs">
          <h1>{tConsent('device')}</h1>
          <p className="muted">{tConsent('device.enter')}</p>
        </div>
        <TextField
          label={tConsent('code')}
          value={typed}
          onChange={setTyped}
          placeholder="BCDF-GHJK"
          mono
          maxLength={16}
          autoFocus
        />
        {hasCode(authorization.error, 'not_found') ? (
          <TextNotice tone="bad" title={tConsent('code.wrong')} live>
            {tConsent('code.now')}
          </TextNotice>
        ) : (
          <Failure error={authorization.error} />
        )}
        <Submit size="large" wide busy={authorization.isFetching} disabled={typed.trim() === ''}>
          {tConsent('continue')}
        </Submit>
      </Form>
    </SinglePage>
  )
}
