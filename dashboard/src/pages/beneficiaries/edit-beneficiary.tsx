import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Button, Submit } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'

export const EditBeneficiary = ({ beneficiary, onClose }: { beneficiary: Schemas['Beneficiary']; onClose: () => void }) => {
  const client = useQueryClient()
  const [name, setName] = useState(beneficiary.display_name)
  const [legalName, setLegalName] = useState(beneficiary.legal_name ?? '')
  const [type, setType] = useState(beneficiary.type)
  const [required, setRequired] = useState(beneficiary.account_reference_required)
  // At a paybill it decides who is paid, and does not change.
  const changesReference = !hasAccounts(beneficiary.payment_rail)
  const save = useMutation({
    mutationFn: () =>
      call(
        api.PATCH('/v1/beneficiaries/{id}', {
          params: { path: { id: beneficiary.id } },
          body: {
            display_name: name.trim(),
            legal_name: legalName.trim() || null,
            type: type.trim(),
            ...(changesReference && { account_reference_required: required }),
          },
        }),
      ),
    onSuccess: (after) => {
      client.setQueryData(beneficiaryQuery(after.id).queryKey, after)
      void client.invalidateQueries({ queryKey: ['beneficiaries'] })
      announce('Beneficiary saved')
      onClose()
    },
  })
  return (
    <Dialog
      title="Edit beneficiary"
      onClose={onClose}
      onSubmit={() => save.mutate()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Submit busy={save.isPending}>Save</Submit>
        </>
      }
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={120} error={fieldError(save.error, 'display_name')} />
      <TextField
        label="Legal name"
        optional
        value={legalName}
        onChange={setLegalName}
        maxLength={120}
        error={fieldError(save.error, 'legal_name')}
      />
      <TextField label="Category" value={type} onChange={setType} maxLength={64} error={fieldError(save.error, 'type')} />
      {changesReference && <CheckField label="Require an account reference" checked={required} onChange={setRequired} />}
      <Failure error={save.error} />
    </Dialog>
  )
}
