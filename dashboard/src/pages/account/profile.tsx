import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { useChange } from '../../ui/use-change.ts'

export const Profile = () => {
  const { account } = useSession()
  const [name, setName] = useState(account.display_name ?? '')
  const save = useChange(() => call(api.PATCH('/v1/accounts/me', { body: { display_name: name.trim() || null } })), {
    announcement: 'Name saved',
    outdates: ['account'],
  })
  const changed = name.trim() !== (account.display_name ?? '')
  return (
    <Card title="Profile">
      <Form className="stack" ready={changed} busy={save.isPending} onSubmit={() => save.mutate()}>
        <div className="row" style={{ alignItems: 'end' }}>
          <div className="grow">
            <TextField
              label="Display name"
              value={name}
              onChange={setName}
              maxLength={120}
              autoComplete="name"
              placeholder={nameOf(account)}
              error={fieldError(save.error, 'display_name')}
            />
          </div>
          <Button type="submit" busy={save.isPending} disabled={!changed}>
            Save
          </Button>
        </div>
        {save.error && !fieldError(save.error, 'display_name') && <Failure error={save.error} />}
        <Facts
          facts={{
            Email: account.email ?? <span className="faint">None. Link Google or GitHub to add one</span>,
            'Account ID': <CopyText value={account.id} text="Copy" label="account ID" />,
            Status: <StatusBadge status={account.status} />,
            Created: <ExactTime at={account.created_at} />,
          }}
        />
      </Form>
    </Card>
  )
}
