import { setting } from '#kit/env/read-environment';

/** The settings of a service that calls models through the model gateway. */
export const modelSettings = {
  PORTCULLIS_MODEL_GATEWAY_URL: setting.url({ help: 'address of the model gateway; /v1 is added to it' }),
  PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: setting.optional(
    setting.file({ help: 'client key of this service at the model gateway, read again on change' }),
  ),
  PORTCULLIS_MODELS_FILE: setting.path({ help: 'models.yaml: the approved profiles of models' }),
};
