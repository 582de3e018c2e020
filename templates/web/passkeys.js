/* Passkeys: asks the browser for what a button says, and sends its form with the answer. */
if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const button of document.querySelectorAll('button[data-passkey]')) {
    for (const words of button.form.querySelectorAll('[data-without-scripts]')) words.hidden = true;
    button.hidden = false;
    button.addEventListener('click', (event) => {
      event.preventDefault();
      answerWithPasskey(button);
    });
  }
}

async function answerWithPasskey(button) {
  const { form, dataset } = button;
  const words = form.querySelector('[data-passkey-words]');
  words.hidden = true;
  // The code of an authenticator is not needed then.
  const isFilled = (field) => field.name === 'code' || field.reportValidity();
  if (![...form.elements].every(isFilled)) return;
  button.disabled = true;
  try {
    form.elements.passkey.value = JSON.stringify(await askForPasskey(dataset.passkey, JSON.parse(dataset.options)));
    form.submit();
  } catch (error) {
    words.textContent = whyNot(error);
    words.hidden = false;
    button.disabled = false;
  }
}

function askForPasskey(ceremony, options) {
  const { credentials } = navigator;
  return ceremony === 'create'
    ? credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

function whyNot({ name, message }) {
  if (name === 'NotAllowedError')
    return 'The request was canceled or timed out, or none of your passkeys is here. Try again.';
  if (name === 'InvalidStateError') return 'This device already has one of your passkeys.';
  return `The browser refused: ${message}`;
}
