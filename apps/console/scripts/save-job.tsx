// Saves the code of a job as a script of its team.
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { fieldFault } from '../api/field-fault.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { LimitedField } from '../components/limits/limited-field.js'
import { limitsOf } from '../components/limits/limits.js'
import { Modal } from '../components/modal.js'
import { Refusal } from '../components/notice.js'

/** A job of something else than code of its own has nothing to save. @param may the record's `can.save_script`. */
export function SaveAsScript(props: { id: string; name: string | null; kind: string; may: true | string | undefined }) {
  const { id, name, kind, may } = props
  const [isOpen, setOpen] = useState(false)
  if (kind !== 'inline') return null
  return (
    <>
      <div className={layout.bar}>
        <Button why={typeof may === 'string' ? may : null} onPress={() => setOpen(true)}>
          Save as a script
        </Button>
      </div>
      {isOpen ? (
        <Modal title="Save as a script" onClose={() => setOpen(false)}>
          <Form id={id} start={name ?? ''} onClose={() => setOpen(false)} />
        </Modal>
      ) : null}
    </>
  )
}

function Form({ id, start, onClose }: { id: string; start: string; onClose: () => void }) {
  const navigate = useNavigate()
  const withKey = useWriteKey()
  const [name, setName] = useState(start)
  const [description, setDescription] = useState('')
  const [slug, setSlug] = useState<string | null>(null)
  const filled = { job_id: id, name, description, slug: slug ?? proposedSlug(name) }
  const save = useMutation({
    mutationFn: () =>
      withKey(filled, (header) => bodyOf(api.POST('/api/scripts', { params: { header }, body: filled }))),
    onSuccess: async ({ script_id }) => {
      onClose()
      await navigate({ to: '/scripts/$id', params: { id: script_id } })
    }
  })
  const fault = fieldFault(save.error, ['name', 'description', 'slug'])
  const faultAt = (field: string) => (fault?.field === field ? fault.text : null)
  const send = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className={layout.panel} onSubmit={send}>
      <LimitedField
        label="Name"
        limits={limitsOf('saveJobScript', 'name')}
        value={name}
        onChange={setName}
        fault={faultAt('name')}
        isRequired
      />
      <LimitedField
        label="Description"
        limits={limitsOf('saveJobScript', 'description')}
        rows={3}
        value={description}
        onChange={setDescription}
        fault={faultAt('description')}
        isRequired
      />
      <LimitedField
        label="Slug"
        limits={limitsOf('saveJobScript', 'slug')}
        help="By which submissions of the team can name it"
        value={filled.slug}
        onChange={setSlug}
        fault={faultAt('slug')}
        isRequired
      />
      {fault ? null : <Refusal error={save.error} />}
      <div className={layout.bar}>
        <Button kind="main" type="submit" isDisabled={save.isPending}>
          Save
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  )
}

/** A proposal: the service says what a slug must be. */
const proposedSlug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
