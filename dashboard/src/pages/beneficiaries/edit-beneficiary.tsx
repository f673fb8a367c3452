import { useQueryClient } from '@tanstack/react-query'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useFields } from '../../lib/drafts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, fieldsOf, TextField } from '../../ui/field.tsx'
import { useChange } from '../../ui/use-change.ts'

export const EditBeneficiary = ({ beneficiary, onClose }: { beneficiary: Schemas['Beneficiary']; onClose: () => void }) => {
  const client = useQueryClient()
  const { value, set } = useFields({
    display_name: beneficiary.display_name,
    legal_name: beneficiary.legal_name ?? '',
    type: beneficiary.type,
    required: beneficiary.account_reference_required,
  })
  // At a paybill it decides who is paid, and does not change.
  const changesReference = !hasAccounts(beneficiary.payment_rail)
  const save = useChange(
    () => {
      const body = {
        display_name: value.display_name.trim(),
        legal_name: value.legal_name.trim() || null,
        type: value.type.trim(),
        ...(changesReference && { account_reference_required: value.required }),
      }
      return call(api.PATCH('/v1/beneficiaries/{id}', { params: { path: { id: beneficiary.id } }, body }))
    },
    {
      announcement: 'Beneficiary saved',
      outdates: ['beneficiaries'],
      onDone: (after) => {
        client.setQueryData(beneficiaryQuery(after.id).queryKey, after)
        onClose()
      },
    },
  )
  const field = fieldsOf(value, set, save.error)
  return (
    <FormDialog title="Edit beneficiary" action="Save" making={save} onSubmit={() => save.mutate()} onClose={onClose}>
      <TextField label="Name" {...field('display_name')} maxLength={120} />
      <TextField label="Legal name" optional {...field('legal_name')} maxLength={120} />
      <TextField label="Category" {...field('type')} maxLength={64} />
      {changesReference && (
        <CheckField label="Require an account reference" checked={value.required} onChange={(required) => set({ required })} />
      )}
    </FormDialog>
  )
}
