"""What a row has beside the request to the model."""

from pydantic import BaseModel, ConfigDict, Field


class TaskData(BaseModel):
    model_config = ConfigDict(extra="allow")

    incident: str = Field(
        description="Id of the incident that the session plays. No prompt and no screen has it.",
        json_schema_extra={"consumed_by": ["verify"]},
    )
    seal: str | None = Field(
        default=None,
        description="Fingerprint of the key of a sealed incident.",
        json_schema_extra={"consumed_by": ["verify"]},
    )
