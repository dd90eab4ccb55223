/**
 * What the page's forms for passkeys do in the browser. A form that has `data-passkey` asks that address, with its fields, what
 * the device is to be asked for, and sends the device's answer in its field `response`. Where a browser has no passkeys the form stays
 * hidden. Plain JavaScript, served as a file: the pages allow no script within them.
 */
export const PASSKEY_SCRIPT = `'use strict'
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const said = form.querySelector('[role=status]')
  const known = window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON
  if (!known) continue
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    said.textContent = ''
    try {
      const answer = await fetch(form.dataset.passkey, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
      const asked = await answer.json().catch(() => ({}))
      if (!answer.ok) throw new Error(asked.message || 'This was refused. Open the page again.')
      const credential = asked.user
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) })
      form.elements.response.value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch (error) {
      said.textContent = error.name === 'NotAllowedError' ? 'Nothing was shown to Done. Try again, or use another way.' : error.message
      button.disabled = false
    }
  })
}
`
